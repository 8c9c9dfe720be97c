"""The codes of problems with data (E3xx) and with the project file and options (E4xx), each with its meaning."""

from __future__ import annotations

CODES: dict[str, str] = {
    "E301": "a file or folder does not exist",
    "E302": "a path is not what it should be: a folder for a file, a file that may not be read",
    "E303": "a folder holds nothing, or something that is not a data file",
    "E304": "a file holds no facts",
    "E305": "a file is damaged, or of a kind that cannot be read",
    "E310": "a row has another number of columns than the file",
    "E311": "a line is empty",
    "E312": "a value is missing",
    "E313": "a line is not UTF-8",
    "E314": "a value is not of its column's type, or is NaN or infinite",
    "E315": "a quoted field does not end, or goes on after its closing quote",
    "E316": "a score is not a finite number, or a rank not a whole number from 1",
    "E317": "a line is not an N-Triples statement",
    "E318": "the first line may be a header or a fact",
    "E319": "the first line names some parts of a triple and not the others",
    "E320": "a column is missing, named twice or not known",
    "E321": "a column's type cannot hold constants",
    "E322": "a Python object cannot be read as facts",
    "E323": "a Python row has not the shape of a fact",
    "E326": "a model that is named after its file has the name of another",
    "E330": "top_k is asked for, but nothing says which answers are best",
    "E331": "some rows of one source have a rank or a query and others have none",
    "E401": "a key is not known",
    "E402": "a value is not one of those allowed",
    "E403": "the project file is not TOML",
    "E404": "a key is missing",
    "E405": "the project file cannot be read",
    "E406": "rules cannot be read",
}
