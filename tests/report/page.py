"""A page of heddle report as its tables: what a reader copies from it."""
import xml.etree.ElementTree


class Figure:
    """A figure's table: names of columns, and rows of (label, cells); a cell is (text, number or None)."""

    def __init__(self, element):
        self.kind = element.get("data-kind")
        rows = list(element.iter("tr"))
        self.names = [text(cell) for cell in list(rows[0])[1:]]
        self.rows = [(text(row[0]), [(text(cell), number(cell)) for cell in list(row)[1:]]) for row in rows[1:]]
        self.classes = [row.get("class", "") for row in rows[1:]]

    def numbers(self):
        """{label: {column: number}}; columns of text are left out."""
        return {label: {name: cell[1] for name, cell in zip(self.names, cells) if cell[1] is not None}
                for label, cells in self.rows}

    def texts(self):
        return {label: {name: cell[0] for name, cell in zip(self.names, cells)} for label, cells in self.rows}

    def column(self, name):
        at = self.names.index(name)
        return [cells[at][1] for _, cells in self.rows]


class Page:
    def __init__(self, path):
        self.text = path.read_text(encoding="utf-8")
        self.root = xml.etree.ElementTree.fromstring(self.text.split("\n", 1)[1])
        self.sections = {section.get("id"): section for section in self.root.iter("section")}

    def figure(self, name):
        return Figure(next(self.sections[name].iter("figure")))

    def rules(self):
        """The rules that said something, with what they said."""
        return {item.get("data-rule"): text(item) for item in self.root.iter("li")}

    def listings(self):
        """By function: rows of lines and of instructions, as {label: {(metric, run): number}}."""
        found = {}
        for figure in self.sections["source"].iter("figure"):
            tables = {}
            for table in figure.iter("table"):
                rows = [row for row in table.iter("tr") if row.get("class") == "cost"]
                tables[table.get("class").split()[1]] = [
                    (text(row[-2]), text(row[-1]),
                     {(cell.get("data-m"), int(cell.get("data-r"))): float(cell.get("data-v"))
                      for cell in row if cell.get("data-m")}) for row in rows]
            found[text(figure.find("h3"))] = tables
        return found


def text(element):
    return "".join(element.itertext())


def number(cell):
    value = cell.get("data-v")
    return None if value is None else float(value)
