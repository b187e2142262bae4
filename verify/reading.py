"""Reads a table, CSV or JSON, as the model file's `reading` says. Returns its columns, whose cells are text: dates are days, and gaps are empty."""
import csv
import gzip
import json
import re
from datetime import date
from functools import partial
from math import fmod, isnan, pi

from bounds import Fields, as_number, as_text, require

OTHERS = {b"PK\x03\x04": "zip or XLSX", b"PAR1": "Parquet", b"\x93NUM": "NPY", b"\x28\xb5\x2f\xfd": "Zstandard"}
CLOCK = r"(?P<H>\d\d?):(?P<M>\d\d)(:(?P<S>\d\d)(?P<f>[.,]\d+)?)?( (?P<pm>[AP]M))?( ?(Z|UTC|(?P<zone>[+-]\d\d:?\d\d))( [A-Za-z]+)?)?"
FORMS = {  # of dates. The letter after a name's first letter tells alternatives apart
    "ymd": r"(?P<y>\d{4})([-/.])(?P<m>\d\d?)\2(?P<d>\d\d?)", "dmy": r"(?P<d>\d\d?)([-/.])(?P<m>\d\d?)\2(?P<y>\d{4}|\d\d)",
    "mdy": r"(?P<m>\d\d?)([-/])(?P<d>\d\d?)\2(?P<y>\d{4}|\d\d)",
    "words": r"([A-Za-z]{3}, )?((?P<d>\d\d?)[ -])?(?P<n>[A-Za-z]{3,9})[ -]((?P<d2>\d\d?),? )?(?P<y>\d{4}|\d\d)",
    "month": r"(?P<y>\d{4})[-/M](?P<m>\d\d)|(?P<m2>\d\d)/(?P<y2>\d{4})|(?P<y3>\d{4})[- ]?[Qq](?P<q>[1-4])|[Qq](?P<q2>[1-4])[- /]?(?P<y4>\d{4})"}
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
PERIODS = {"day": (1, 0), "week": (7, 4), "year": (365.2425, 0)}  # days, and the day since 1970-01-01 on which a period begins
SIN = 1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6, -1.98412698295895385996e-4, 8.33333333332211858878e-3, -1.66666666666666307295e-1
COS = -1.13585365213876817300e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7, 2.48015872888517045348e-5, -1.38888888888730564116e-3, 4.16666666666665929218e-2
def sine_cosine(x):
    """Returns both as Cephes and Go round them, since the rows' hashes hold every bit."""
    j, s, c = (int(abs(x) * 1.2732395447351628) + 1) // 2 * 2, 0.0, 0.0
    z = ((abs(x) - j * 7.85398125648498535156e-1) - j * 3.77489470793079817668e-8) - j * 2.69515142907952595645e-15
    for a, b in zip(SIN, COS):
        s, c = s * (z * z) + a, c * (z * z) + b
    s, c = z + z * (z * z) * s, 1 - 0.5 * (z * z) + (z * z) * (z * z) * c
    s, c = ((s, c), (c, -s), (-s, -c), (-c, s))[j // 2 % 4]
    return (-s if x < 0 else s if x else x), c  # the sine of -0 is -0
def days(text, form):
    """Returns the days since 1970-01-01 of a text of this form, or a time of day as a part of a day."""
    text, week = re.sub(" +", " ", text), re.fullmatch(r"(\d{4})-?W(\d\d)(?:-?([1-7]))?", text)
    if form == "ymd" and week:
        return float(date.fromisocalendar(int(week[1]), int(week[2]), int(week[3] or 1)).toordinal() - 719163)
    text = re.sub(r"^(\d{4})(\d\d)(\d\d)[ T](\d\d)(\d\d)(\d\d)?", lambda m: "{}-{}-{} {}:{}".format(*m.groups()) + f":{m[6]}" * bool(m[6]), text)
    m = re.fullmatch(CLOCK if form == "time" else f"(?:{FORMS.get(form, '')})(?:[ T]{CLOCK})?", text, re.ASCII)
    if not m:
        require(as_number(text) is not None, f"not checked by this program: {text!r} as a date of the form {form}")
        return of_number(as_number(text), True)
    part = {k[0]: v for k, v in m.groupdict().items() if v}
    hour, minute, second, rest = (float(part.get(k, "0").replace(",", ".")) for k in "HMSf")
    hour = hour % 12 + 12 * (part["p"] == "PM") if "p" in part else hour
    if form == "time":
        return hour / 24 + minute / 1440 + (second + rest) / 86400
    year, month = int(part["y"]), MONTHS.index(part["n"][:3].lower()) + 1 if "n" in part else 3 * int(part["q"]) - 2 if "q" in part else int(part["m"])
    year, zone = year + (0 if len(part["y"]) == 4 else 1900 if year >= 69 else 2000), part.get("z", "+0000").replace(":", "")
    whole, seconds = divmod(hour * 3600 + minute * 60 + second - int(zone[0] + "1") * (int(zone[1:3]) * 3600 + int(zone[3:]) * 60), 86400)
    return date(year, month, int(part.get("d", 1))).toordinal() - 719163 + whole + (seconds + rest) / 86400
def of_number(v, among=False):
    """Returns the days of a number in a column of dates, whose size says what it counts. Among texts, a number that is no date is days."""
    if 10000101 <= v < 30000000:
        return days(re.sub(r"^(....)(..)(..)$", r"\1-\2-\3", format(v, ".15g")), "ymd")
    return v if v < 10000101 or among else v / (86400 if v < 1e11 else 86400e3)
def gaps(name, cells, words):
    """Makes gaps empty: cells that equal a word, and numbers beyond a limit such as size=>5. In a column of numbers it compares numbers."""
    own = [w[len(name) + 1:] for w in words if w.startswith(name + "=")]
    low = {w.lower() for w in words + own}
    limits = [(w[0], as_number(w[1:])) for w in own if w[0] in "<>" and as_number(w[1:]) is not None]
    beyond = [any(v is not None and (v > end if side == ">" else v < end) for side, end in limits) for v in map(as_number, cells)]
    cells = ["" if c.lower() in low or far else c for c, far in zip(cells, beyond)]
    numbers = set(map(as_number, low)) - {None} if None not in map(as_number, cells) else ()
    return ["" if as_number(c) in numbers else c for c in cells]
def from_json(text):
    """Returns the keys of all objects, and a row for each object. Numbers stay as they are written."""
    read = partial(json.loads, parse_float=str, parse_int=str, parse_constant=str)
    try:
        all_rows = read(text)
    except ValueError:
        all_rows = [read(line) for line in text.split("\n") if line.strip()]
    if isinstance(all_rows, dict):
        known = ("data", "items", "records", "results", "rows", next(iter(all_rows)))
        all_rows = next((v for k, v in all_rows.items() if isinstance(v, list) and k in known), [all_rows])
    require(all(isinstance(row, dict) for row in all_rows), "not checked by this program: JSON that isn't an array of objects, or an object a line")
    names = list(dict.fromkeys(k for row in all_rows for k in row))  # a cell is text, true, false or null; [] stands for what no column may hold
    return names, [[v.strip() if isinstance(v, str) else "[]" if isinstance(v, (list, dict)) else str(int(v)) if v is not None else "" for v in map(row.get, names)]
                   for row in all_rows]
def read_table(raw, said=Fields({})):  # noqa: B008
    unknown = [k for k in said.entries if k not in ("dates", "missing", "header", "skip_rows", "missing_target", "distinct")]
    require(not unknown, f"not checked by this program: cells that are read by {', '.join(unknown)} (reading)")
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    require(raw[:4] not in OTHERS, f"not checked by this program: a table in the format {OTHERS.get(raw[:4])}; write it as CSV")
    text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig").replace("\r\n", "\n")
    text, header, words = "\n".join(text.split("\n")[said("skip_rows", int):]), said("header", str), said.list("missing", str)
    require(header in ("", "yes", "no"), f"not checked by this program: a header that is read as {header!r}")
    if re.match(r'\s*(\{\s*"|\[\s*\{)', text):
        names, rows = from_json(text)
    else:
        text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE) if text[:1] == "#" else text  # remarks above the table, and in it
        comma = next((c for c in ",;\t| " if c in re.sub(r'"[^"]*"', "", text.lstrip("\n")).split("\n")[0]), ",")
        lines = (re.sub("[ \t]+", " ", line).strip() + "\n" if comma == " " else line + "\n" for line in text.split("\n"))
        lines = csv.reader(lines, delimiter=comma, skipinitialspace=comma != "\t", strict=True)
        names, *rows = [[re.sub('^="(.*)"$', r"\1", cell.strip(), flags=re.DOTALL) for cell in row] for row in lines if row]
        first = [as_number(c) for c in gaps("", names, words)]
        if header == "no" or not header and None not in first and not all(map(isnan, first)):
            rows, n = [names, *rows], len(names)
            names = [f"c{j + 1}" for j in range(n)] if header else [f"x{j + 1}" for j in range(n - 1)] + ["y"]
        rows = [row for row in rows if row != [""] or len(names) == 1]
        names = ["(index)"] * all(len(row) == len(names) + 1 for row in rows) + names  # R writes no name for the names of rows
    require(len(set(names)) == len(names) and rows and all(len(r) == len(names) for r in rows), "the data aren't a table with different names and equally long rows")
    columns = {name: gaps(name, [row[j] for row in rows], words) if words else [row[j] for row in rows] for j, name in enumerate(names)}
    if said("distinct", bool):
        kept = list(dict.fromkeys(zip(*(map(as_text, c) for c in columns.values()))))
        columns = {name: [row[j] for row in kept] for j, name in enumerate(columns)}
    for d in said.objects("dates"):
        name, form = d("column", str), d("form", str)
        require(name in columns, f"the table lacks the column of dates {name!r}")
        numbers = list(map(as_number, columns[name]))
        values = [v if v is not None and isnan(v) else days(c, form) if None in numbers else of_number(v) for c, v in zip(columns[name], numbers)]
        columns[name] = list(map(repr, values))
        for long, begin, part in ((*PERIODS[part], part) for part in d.list("parts", str)):
            both = [(v, v) if isnan(v) else sine_cosine(2 * pi * fmod(v - begin, long) / long) for v in values]
            columns.update({f"{name} {part} {of}": [repr(pair[k]) for pair in both] for k, of in enumerate(("sin", "cos"))})
    return columns
