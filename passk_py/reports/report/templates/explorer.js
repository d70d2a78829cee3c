// The tasks of each suite as a table to search, filter and sort. A task opens its attempts, one by one.
// The address holds what is shown, so that a view can be sent; each link and filter changes the address, and the page follows it.
// Names are of others: they become text, never HTML.
(() => {
  const MARKS = { P: ["●", "passed"], F: ["○", "failed"], x: ["×", "excluded"] };
  const TONES = { P: "good", F: "bad", x: "unsure" };
  const WORDS = { run: "run", against: "run to compare with", kind: "class", tag: "tag", task: "task" };
  const DASH = "–";
  const { k, suites } = JSON.parse(document.getElementById("explorer-data").textContent);

  const element = (name, properties = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
      if (key in made) made[key] = value;
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  };
  const cell = (text, number) => element("td", number ? { className: "number" } : {}, text ?? DASH);
  // DataTables takes titles of columns as HTML.
  const escaped = (text) => element("i", { textContent: text }).innerHTML;
  // A search finds letters with accents by those without.
  const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const tagName = ([key, value]) => `${key.replaceAll("=", "%3D")}=${value}`;
  const orDash = (value) => value ?? DASH;

  // What is not known comes last, whichever way a column is sorted.
  const UNKNOWN = Infinity;
  const ordered = (way) => (one, two) => (one === UNKNOWN) - (two === UNKNOWN) || way * ((one > two) - (one < two));
  const WAYS = { asc: ordered(1), desc: ordered(-1) };
  Object.assign(DataTable.ext.type.order, {
    "known-pre": (value) => (value === "" ? UNKNOWN : Number(value)),
    "known-asc": WAYS.asc,
    "known-desc": WAYS.desc,
  });

  const asNode = (content) => (content instanceof Node ? content : document.createTextNode(content));
  const textColumn = (title, value, options = {}, shown = value) => ({
    title,
    data: null,
    type: "string",
    render: (row, type) => (type === "display" ? asNode(shown(row)) : value(row)),
    ...options,
  });
  const numberColumn = (title, value, text = value) => ({
    title,
    data: null,
    className: "number",
    type: "known",
    orderSequence: ["desc", "asc"],
    render: (row, type) => (type === "display" ? asNode(String(orDash(text(row)))) : value(row) ?? ""),
  });
  const transcript = (place) => {
    if (place === null) return DASH;
    if (!/^(https?|file):/i.test(place)) return place;
    return element("a", { href: place, target: "_blank", rel: "noopener noreferrer" }, "open");
  };

  class Explorer {
    constructor(suite, place) {
      Object.assign(this, suite);
      this.gone = [];
      this.id = `tasks-${place}`;
      this.room = document.getElementById(`explorer-${place}`);
      this.form = this.room.querySelector("form");
      this.count = this.room.querySelector(".count");
      this.holder = this.room.querySelector(".holder");
      this.panel = this.room.querySelector(".panel");
      this.names = new Map(this.tasks.map((task) => [task, folded(task[0])]));
      this.attemptsOf = new Map();
      for (const row of this.attempts) {
        const key = `${row[0]} ${row[1]}`;
        if (!this.attemptsOf.has(key)) this.attemptsOf.set(key, []);
        this.attemptsOf.get(key).push(row);
      }
      this.fillForm();
      this.room.hidden = false;
      document.getElementById(`first-${place}`).classList.add("on-paper");
      this.form.addEventListener("input", () => this.go(this.asked()));
      this.form.addEventListener("submit", (event) => event.preventDefault());
      this.panel.addEventListener("keydown", (event) => {
        if (event.key === "Escape") location.hash = this.link({ ...this.shown, task: "" });
      });
      addEventListener("hashchange", () => this.follow());
      this.follow();
    }

    fillForm() {
      const { run, against, kind, tag } = this.form.elements;
      this.runs.forEach(([name, label]) => {
        run.append(element("option", { value: name }, label));
        against.append(element("option", { value: name }, label));
      });
      this.classes.forEach((name) => kind.append(element("option", { value: name }, name)));
      const groups = new Map();
      this.tags.forEach(([key, value]) => {
        if (!groups.has(key)) groups.set(key, element("optgroup", { label: key }));
        groups.get(key).append(element("option", { value: tagName([key, value]) }, value));
      });
      tag.append(...groups.values());
      tag.closest("label").hidden = groups.size === 0;
    }

    // What the address says of this suite, as far as the suite has it: null if it is about another part of the page.
    told() {
      const [id, query = ""] = location.hash.slice(1).split(/\?(.*)/s);
      if (id !== this.id) return null;
      const said = Object.fromEntries(new URLSearchParams(query));
      const known = {
        run: (name) => this.place(name) >= 0,
        against: (name) => this.place(name) >= 0,
        kind: (name) => this.classes.includes(name),
        tag: (name) => this.tags.some((tag) => tagName(tag) === name),
        task: (name) => this.tasks.some(([task]) => task === name),
      };
      this.gone = Object.keys(known).filter((key) => said[key] && !known[key](said[key]));
      for (const key of this.gone) delete said[key];
      if (!said.run || said.against === said.run) delete said.against;
      return said;
    }

    // What the form says; a task that is open stays so.
    asked() {
      const said = Object.fromEntries(new FormData(this.form));
      if (!said.run || said.against === said.run) delete said.against;
      const task = this.shown?.task;
      return task ? { ...said, task } : said;
    }

    link(state) {
      const query = String(new URLSearchParams(Object.entries(state).filter(([, value]) => value)));
      return `#${this.id}${query ? `?${query}` : ""}`;
    }

    go(state) {
      history.replaceState(null, "", this.link(state));
      this.gone = [];
      this.show(state);
    }

    follow() {
      const told = this.told();
      // Another part of the page leaves the table as it is; an address without any is the beginning.
      if (told === null && this.shown && location.hash.length > 1) return;
      const before = this.shown;
      this.show(told ?? {});
      if (this.shown.task && this.shown.task !== before?.task) this.panel.querySelector("h4")?.focus();
      else if (before?.task && !this.shown.task) this.linkOf(before.task)?.focus();
      else if (told && location.hash.includes("?")) this.room.scrollIntoView();
    }

    linkOf(task) {
      return [...this.holder.querySelectorAll("a.task")].find((link) => link.textContent === task);
    }

    show(state) {
      for (const name of ["run", "against", "kind", "tag", "q"]) {
        const field = this.form.elements[name];
        if (field.value !== (state[name] ?? "")) field.value = state[name] ?? "";
      }
      const { against } = this.form.elements;
      against.disabled = !state.run;
      // A run is not compared with itself.
      for (const option of against.options) option.disabled = option.value !== "" && option.value === state.run;
      const columns = JSON.stringify([state.run ?? "", state.against ?? ""]);
      const filters = JSON.stringify([columns, state.kind, state.tag, state.q]);
      this.shown = state;
      // What the filters ask for, as places in the lists of the suite.
      this.wanted = {
        runs: state.run ? [this.place(state.run)] : [...this.runs.keys()],
        kind: this.classes.indexOf(state.kind),
        tag: this.tags.findIndex((tag) => tagName(tag) === state.tag),
        words: [...folded(state.q ?? "").matchAll(/"([^"]+)"|\S+/g)].map(([word, phrase]) => phrase ?? word),
      };
      if (columns !== this.columns) this.makeTable(columns);
      // The page of the table stays if only a task was opened or closed.
      else this.table.draw(filters === this.filters ? "page" : true);
      this.filters = filters;
      const { pages, recordsDisplay: found } = this.table.page.info();
      this.holder.querySelector(".dt-paging").hidden = pages < 2;
      const all = this.tasks.length;
      const more = this.total > all ? `, the first to mend of ${this.total.toLocaleString("en")}` : "";
      const gone = this.gone.length ? `. The report has no such ${this.gone.map((key) => WORDS[key]).join(" and no such ")}` : "";
      this.count.textContent = `${found.toLocaleString("en")} of ${all.toLocaleString("en")} ${all === 1 ? "task" : "tasks"}${more}${gone}`;
      this.showTask();
    }

    place(name) {
      return this.runs.findIndex(([run]) => run === name);
    }

    state(task, run) {
      const found = task[4][run];
      return found < 0 ? null : this.states[found];
    }

    makeTable(columns) {
      this.columns = columns;
      const table = element("table", { className: "heat" });
      this.holder.replaceChildren(table);
      // The old table is out of the page. It is taken apart once the new one is seen.
      const old = this.table;
      if (old) requestAnimationFrame(() => setTimeout(() => old.destroy(true)));
      const [run, against] = [this.place(this.shown.run), this.place(this.shown.against)];
      const shape = [this.nameColumn(), ...this.columnsOf(run, against)];
      this.table = new DataTable(table, {
        columns: shape,
        // The library draws a page of the tasks that it is given: thousands of rows of its own would take it too long.
        serverSide: true,
        ajax: (asked, answer) => answer(this.pageOf(asked, shape)),
        order: against >= 0 ? [[3, "asc"]] : run >= 0 ? [[4, "desc"]] : [],
        autoWidth: false,
        pageLength: 10,
        lengthChange: false,
        info: false,
        layout: { topStart: null, topEnd: null, bottomStart: null, bottomEnd: "paging" },
        language: { zeroRecords: "No task is like that.", emptyTable: "There is no task." },
      });
    }

    // What the table asks for: a page of the tasks that match, in the order of columns.
    pageOf({ draw, start, length, order }, shape) {
      const found = this.tasks.filter((task) => this.matches(task));
      const orders = order.map(({ column, dir }) => {
        const key = (task) => {
          const value = shape[column].render(task, "sort");
          return value === "" ? UNKNOWN : typeof value === "string" ? value.toLowerCase() : value;
        };
        const keys = new Map(found.map((task) => [task, key(task)]));
        return (one, two) => WAYS[dir](keys.get(one), keys.get(two));
      });
      if (orders.length) found.sort((one, two) => orders.reduce((so, compare) => so || compare(one, two), 0));
      return { draw, recordsTotal: this.tasks.length, recordsFiltered: found.length, data: found.slice(start, start + length) };
    }

    nameColumn() {
      const link = ([name]) => element("a", { className: "task", href: this.link({ ...this.shown, task: name }) }, name);
      return textColumn("task", ([name]) => name, { orderSequence: ["asc", "desc"], className: "name", cellType: "th" }, link);
    }

    // All runs side by side; or one run; or two and what differs.
    columnsOf(run, against) {
      const title = `expected gain of pass^${k}, points`;
      const ofRun = (task, at) => this.state(task, run)?.[at];
      const gain = run < 0
        ? numberColumn(title, (task) => task[1], (task) => task[2])
        : numberColumn(title, (task) => ofRun(task, 8), (task) => ofRun(task, 9));
      if (run < 0) return [gain, ...this.runs.map((_, place) => this.countColumn(place))];
      const hat = (place, title) =>
        numberColumn(title, (task) => this.state(task, place)?.[4], (task) => this.state(task, place)?.[5]);
      if (against < 0) return [this.countColumn(run), this.kindColumn(run, "class"), hat(run, `pass^${k}, %`), gain];
      const difference = (task) => {
        const [one, two] = [this.state(task, run)?.[3], this.state(task, against)?.[3]];
        return one == null || two == null ? null : 100 * (one - two);
      };
      const signed = (task) => {
        const points = difference(task);
        return points === null ? null : `${points > 0 ? "+" : points < 0 ? "−" : ""}${Math.abs(points).toFixed(1)}`;
      };
      return [
        this.countColumn(run),
        this.countColumn(against),
        numberColumn("difference, points", difference, signed),
        this.kindColumn(run, `class in ${escaped(this.runs[run][1])}`),
        this.kindColumn(against, `class in ${escaped(this.runs[against][1])}`),
      ];
    }

    countColumn(run) {
      return {
        title: escaped(this.runs[run][1]),
        data: null,
        type: "known",
        className: "run",
        render: (task, type) => {
          const state = this.state(task, run);
          if (type === "display") return document.createTextNode(state ? `${state[0]}/${state[1]}` : "");
          return state?.[3] ?? "";
        },
        createdCell: (made, _value, task) => {
          const state = this.state(task, run);
          made.classList.add(state && state[3] !== null ? `h${state[7]}` : "none");
        },
      };
    }

    kindColumn(run, title) {
      const name = (task) => {
        const state = this.state(task, run);
        return state ? this.classes[state[6]] : "";
      };
      return textColumn(title, name, { className: "said" });
    }

    matches(task) {
      const { runs, kind, tag, words } = this.wanted;
      if (!words.every((word) => this.names.get(task).includes(word))) return false;
      if (tag >= 0 && !task[3].includes(tag)) return false;
      return runs.some((run) => {
        const state = this.state(task, run);
        return state && (kind < 0 || state[6] === kind);
      });
    }

    showTask() {
      const place = this.tasks.findIndex(([name]) => name === this.shown.task);
      this.panel.hidden = place < 0;
      if (place < 0 || this.opened === location.hash) return;
      this.opened = location.hash;
      const { run, against } = this.shown;
      const wanted = [run, against].filter(Boolean).map((name) => this.place(name));
      const runs = wanted.length ? wanted : [...this.runs.keys()];
      const task = this.tasks[place];
      const tags = task[3].map((one) => this.tags[one].join(" = ")).join(", ");
      const rows = runs.flatMap((one) => this.attemptsOf.get(`${place} ${one}`) ?? []);
      this.panel.replaceChildren(
        element("h4", { tabIndex: -1 }, task[0]),
        element("a", { className: "close", href: this.link({ ...this.shown, task: "" }) }, "Close"),
        element("p", { className: "quiet" }, tags),
        this.runTable(place, task, runs),
        ...this.cutRuns(place, task, runs),
        ...(rows.length || !runs.some((one) => this.state(task, one)) ? [] : [this.notHere(task[0])]),
      );
      if (rows.length) this.addAttempts(rows, runs.length > 1);
    }

    // The file has the first attempts of a run that made very many.
    cutRuns(place, task, runs) {
      return runs.flatMap((run) => {
        const state = this.state(task, run);
        const shown = this.attemptsOf.get(`${place} ${run}`)?.length ?? 0;
        const made = state ? state[1] + state[2] : 0;
        if (!shown || shown >= made) return [];
        return [element("p", {}, `The file has the first ${shown} of the ${made.toLocaleString("en")} attempts of ${this.runs[run][1]}.`)];
      });
    }

    runTable(place, task, runs) {
      const body = runs.map((run) => {
        const state = this.state(task, run);
        if (!state) return element("tr", {}, this.runName(run), element("td", { colSpan: 4 }, "did not try it"));
        const found = this.attemptsOf.get(`${place} ${run}`) ?? [];
        const outcomes = found.map((row) => MARKS[row[3]][0]).join("") + (found.length < state[1] + state[2] ? " …" : "");
        return element("tr", {}, this.runName(run), cell(this.classes[state[6]]), cell(`${state[0]} of ${state[1]}`, true), cell(state[5], true), element("td", { className: "outcomes" }, outcomes));
      });
      const heads = [["run"], ["class"], ["passed", true], [`pass^${k}, %`, true], ["attempts in order: ● passed, ○ failed, × excluded"]];
      return this.scrolled("Runs of the task", element("table", {}, this.head(heads), element("tbody", {}, ...body)));
    }

    runName(run) {
      return element("th", { scope: "row", className: "name" }, this.runs[run][1]);
    }

    // Failed attempts stand first: they say what to mend.
    addAttempts(rows, several) {
      const table = element("table", { className: "attempts" });
      this.panel.append(this.scrolled("Attempts", table));
      const paging = rows.length > 50;
      new DataTable(table, {
        data: [...rows].sort((one, two) => "FxP".indexOf(one[3]) - "FxP".indexOf(two[3])),
        columns: this.attemptColumns(rows, several),
        paging, pageLength: 50, lengthChange: false, searching: false, info: false, order: [], autoWidth: false,
        layout: { topStart: null, topEnd: null, bottomStart: null, bottomEnd: paging ? "paging" : null },
      });
    }

    // A column of which the log says nothing is left out.
    attemptColumns(rows, several) {
      const any = (at) => rows.some((row) => row[at] !== null);
      const numbers = [["score", 5], ["duration, s", 6], ["cost, $", 7], ["seed", 8]].filter(([, at]) => any(at));
      const outcome = (row) => MARKS[row[3]][1];
      const file = (row) => (row[10] < 0 ? DASH : this.files[row[10]] + (row[11] === null ? "" : `:${row[11]}`));
      return [
        ...(several ? [textColumn("run", (row) => this.runs[row[1]][1], { className: "name", cellType: "th" })] : []),
        numberColumn("attempt", (row) => row[2]),
        textColumn("outcome", outcome, {}, (row) => element("span", { className: `outcome ${TONES[row[3]]}` }, outcome(row))),
        textColumn("reason", (row) => (row[4] < 0 ? DASH : this.reasons[row[4]]), { className: "reason" }),
        ...numbers.map(([title, at]) => numberColumn(title, (row) => row[at])),
        ...(any(9) ? [textColumn("started", (row) => orDash(row[9]))] : []),
        textColumn("where in the log", file, { className: "place" }),
        ...(any(12) ? [textColumn("transcript", (row) => orDash(row[12]), { orderable: false }, (row) => transcript(row[12]))] : []),
      ];
    }

    notHere(task) {
      const quoted = (text) => `'${text.replaceAll("'", "''")}'`;
      const query = `select * from passk_attempts where suite = ${quoted(this.name)} and task_id = ${quoted(task)} order by run_id, attempt`;
      return element("p", {}, "The attempts of this task are not in the file. Ask the database: ", element("code", {}, query));
    }

    head(heads) {
      const cells = heads.map(([text, number]) => element("th", { scope: "col", ...(number ? { className: "number" } : {}) }, text));
      return element("thead", {}, element("tr", {}, ...cells));
    }

    scrolled(label, table) {
      return element("div", { className: "scroll", role: "region", "aria-label": label, tabIndex: 0 }, table);
    }
  }

  suites.forEach((suite, place) => {
    if (suite.tasks.length) new Explorer(suite, place + 1);
  });
  // Without a script these links lead to the tasks; with one, to the tasks that they name.
  for (const link of document.querySelectorAll("a[data-view]")) link.href = `${link.hash}?${link.dataset.view}`;

  // The leaderboards can be sorted: by the heads of their columns, or by a list where the rows are cards without heads.
  for (const board of document.querySelectorAll("table.board")) {
    const table = new DataTable(board, {
      paging: false, searching: false, info: false, order: [], autoWidth: false,
      columnDefs: [{ targets: "unsorted", orderable: false }, { targets: "number", type: "known", orderSequence: ["desc", "asc"] }, { targets: "rank", type: "known" }],
    });
    const list = element("select", { name: "sort" }, element("option", { value: "" }, `by pass^${k}`));
    board.querySelectorAll("thead th:not(.unsorted)").forEach((head) => {
      const [first, last] = head.matches(".number, .rank") ? ["lowest first", "highest first"] : ["A to Z", "Z to A"];
      for (const [way, said] of head.matches(".number") ? [["desc", last], ["asc", first]] : [["asc", first], ["desc", last]])
        list.append(element("option", { value: `${head.cellIndex} ${way}` }, `${head.textContent.trim()}: ${said}`));
    });
    list.addEventListener("input", () => {
      const [column, way] = list.value.split(" ");
      table.order(way ? [[Number(column), way]] : []).draw();
    });
    board.closest(".cards").before(element("label", { className: "sort-cards" }, "Sort the runs ", list));
  }
})();
