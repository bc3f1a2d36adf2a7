"""What the core's rules, stages and attacks are called in Python.

Everything else about them (options, defaults, ranges, sentences) comes from the core's tables. The
class names are those of the papers, and of ByzFL where it has the same algorithm. What has no line
here gets its own name in CamelCase.
"""

CLASS_NAMES: dict[str, str] = {
    "average": "Average",
    "server": "ServerOnly",
    "coomed": "Median",
    "trmean": "TrMean",
    "krum": "Krum",
    "mkrum": "MultiKrum",
    "geomed": "GeometricMedian",
    "selfrej": "SelfRej",
    "avgrej": "AvgRej",
    "zeno": "Zeno",
    "fltrust": "FLTrust",
    "bygars": "ByGARS",
    "rage": "RAGE",
    "boba": "Boba",
    "boba-es": "BobaES",
    "b-krum": "BucketedKrum",
    "b-mkrum": "BucketedMultiKrum",
    "gauss": "Gaussian",
    "ipm": "InnerProductManipulation",
    "lie": "ALittleIsEnough",
    "minmax": "MinMax",
    "minsum": "MinSum",
    "nan": "NaN",
    "signflip": "SignFlipping",
}

# Second names of a class.
ALIASES: dict[str, str] = {"TrimmedMean": "TrMean"}


def class_name(name: str) -> str:
    """Gives the class name of a rule, stage or attack: "boba-no-stage1" is BobaNoStage1."""
    made = "".join(part[:1].upper() + part[1:] for part in name.split("-"))
    return CLASS_NAMES.get(name, made)
