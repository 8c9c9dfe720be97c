"""The public data sets, with the addresses of their makers, their licences, and the digest of every file.

Addresses name a commit, so files at them do not change.
"""

from __future__ import annotations

from dataclasses import dataclass

_GITHUB = "https://raw.githubusercontent.com"
_UNIKER = f"{_GITHUB}/vivian1993/UniKER/c8daa571c51cbd5ed69024c07290752df150da37/data/family"
_COMPGCN = f"{_GITHUB}/malllabiisc/CompGCN/3b06f5fec42526faa81afc158df9e64a8382982c/data_compressed"
_EXPRESSGNN = f"{_GITHUB}/expressGNN/ExpressGNN/797897343bcfee8cb703ad22c53e14c38a1e08ea/data/fb15k-237"
_PYKEEN = f"{_GITHUB}/pykeen/pykeen/8379e338134bd33e53340b47f95c13028a4f9dbf/src/pykeen/datasets"


@dataclass(frozen=True, slots=True)
class File:
    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Download:
    """A file at an address. `members`: if it is a ZIP archive, the files to extract, by their names in the archive."""

    url: str
    file: File
    members: tuple[tuple[str, File], ...] = ()

    @property
    def files(self) -> tuple[File, ...]:
        return tuple(file for _, file in self.members) or (self.file,)


@dataclass(frozen=True, slots=True)
class DataSet:
    """`page`: where people read about it. `licence`: the licence of the data or, if none is stated, of the repository that offers
    them. `downloads` are empty if nobody offers the files. `package`: the folder of an installed PyKEEN that also has them."""

    name: str
    title: str
    page: str
    licence: str
    files: tuple[File, ...]
    downloads: tuple[Download, ...] = ()
    package: tuple[str, ...] | None = None

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def _of_downloads(name: str, title: str, page: str, licence: str, *downloads: Download) -> DataSet:
    return DataSet(name, title, page, licence, tuple(file for download in downloads for file in download.files), downloads)


def _of_pykeen(name: str, title: str, *files: File) -> DataSet:
    downloads = tuple(Download(f"{_PYKEEN}/{name}/{file.name}", file) for file in files)
    return DataSet(name, title, "https://github.com/pykeen/pykeen", "MIT (PyKEEN)", files, downloads, ("datasets", name))


_ALL = (
    _of_downloads(
        "family",
        "kinship graph, UniKER's split, with its 41 rules",
        "https://github.com/vivian1993/UniKER",
        "MIT (UniKER)",
        *(
            Download(f"{_UNIKER}/{file.name}", file)
            for file in (
                File("train.txt", 304_922, "74f3661b2151fca15e92bbf43f47dbf2412db8cd6538300aaaba827ceb5a3e37"),
                File("valid.txt", 43_356, "d55523c8f40477414a2c62fce5460a701629eaecb3f7c023412a6e44ca9e3d6d"),
                File("test.txt", 87_190, "873fef3d3fca88eeee2f6f3e94f30348e54e578600b47ad28364e96220c4ad52"),
                File("MLN_rule.txt", 1_015, "74f13b0319068a0280dd1de2c5b662c562e70c9611b9dad5946e9c2da265b484"),
            )
        ),
    ),
    _of_downloads(
        "fb15k-237",
        "part of Freebase, as CompGCN has it, with ExpressGNN's 509 rules",
        "https://github.com/malllabiisc/CompGCN",
        "CC BY (Freebase); rules: none stated",
        Download(
            f"{_COMPGCN}/FB15k-237.zip",
            File("FB15k-237.zip", 3_699_804, "1d897ef464a2e79a2bbf3c4f6cf771d9ce44b53cc8409836ba9c574fde1401b3"),
            tuple(
                (f"FB15k-237/{file.name}", file)
                for file in (
                    File("train.txt", 21_277_292, "6e4c2782169af21e9743f3b1d200886f5d595bf6bc504ec1351720949c5cdfae"),
                    File("valid.txt", 1_303_101, "cf6309010852f6a8d47a45df830a426415d1ee6f7a3970a8376ff1fb81db4a5c"),
                    File("test.txt", 1_519_499, "5711cf41623ceb4eacc50eb6108a3ca6565c7492e3caaf82a3e355cc660d1574"),
                )
            ),
        ),
        Download(
            f"{_EXPRESSGNN}/cleaned_rules_weight_larger_than_0.9.txt",
            File("rules.mln.txt", 96_802, "541531dce059c8229d502623900fefa3bd32af6e408fa0ae14747a63e008a755"),
        ),
    ),
    _of_pykeen(
        "umls",
        "medical terms and how they are related",
        File("train.txt", 260_013, "873ef4925516b83e7f6f8cc02b4be51d848828710a7f65a956f0ac4a9e452f35"),
        File("valid.txt", 32_963, "025c98f8a4891e2a6582ec5b40ee0d904031edad9c52554522f4b7904820c98e"),
        File("test.txt", 32_968, "a7eb529a3d2810fcc96341ccc97c625a5e202f8389673aa6bd317eeebbb79014"),
    ),
    _of_pykeen(
        "kinships",
        "kinship terms of the Alyawarra",
        File("train.txt", 208_710, "738612111a6acf0e39662bde24c7e72a4d1edf20931beea077da367dda689731"),
        File("valid.txt", 26_088, "c56f8630a583178b1e569f11a64aa535ae1ce0b0912d8b1e24716be2b37f04da"),
        File("test.txt", 26_255, "05e5733265761d55be9c05bfaff5a8d0808df46f9c1e9d66cc3f2fe114e43d88"),
    ),
    _of_pykeen(
        "nations",
        "relations of 14 nations",
        File("train.txt", 39_101, "0830fa9da8e5bba2ccdaa45b7bdc9130451ba66b09ff2708f35fccaf82473e57"),
        File("valid.txt", 4_851, "2b337a62e51a2f45c283eac98a70d21b7e0e102136be1539b2a52c652a7b0530"),
        File("test.txt", 4_951, "3971085165b47b6aeaec68058c6d8d98b3005e929db81268410b95ae4db770ab"),
    ),
    DataSet(
        "dvf-nantes",
        "property sales in Nantes, 2014 to 2019, from the register DVF",
        "https://www.data.gouv.fr/fr/datasets/demandes-de-valeurs-foncieres/",
        "Licence Ouverte 2.0",
        (File("sales.parquet", 579_925, "9d9de3b206aecaabd89f3573be9ea24018d897314b74febe35477ca4e85ec1c6"),),
    ),
)

DATA_SETS = {data_set.name: data_set for data_set in _ALL}
