def tables(r):
    return ""


def plan(*a):
    return ""
