"""How many of their gates and aims the cases of a report meet."""


def met(records: list[dict], goal: str) -> str:
    asked = [record[goal]["met"] for record in records if record[goal] is not None]
    return f"{sum(asked)} of {len(asked)}" if asked else "–"


def lines(report: dict) -> list[str]:
    """The line that counts them, if there are any."""
    gates, aims = (met(report["records"], goal) for goal in ("gate", "aim"))
    return [] if gates == aims == "–" else ["", f"Gates met: {gates}. Aims met: {aims}."]
