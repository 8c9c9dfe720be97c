"""What has to be counted, decided without any SQL."""
