"""`auctrack bench`: the papers' tables and figures, and the peers, measured on this machine."""

from __future__ import annotations

import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..arguments.command_settings import usage
from ..terminal import console

if TYPE_CHECKING:
    from ...bench.benchmark import Benchmark, Effort
    from ...bench.draw.tables import Table

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Measure auctrack on this machine: the tables and figures of its four papers, and its peers on the same "
    "inputs. Each benchmark prints tables; with [bold]--output[/bold] it also writes NAME.json (machine, versions, "
    "commit, every repetition), NAME.md and figures, and the same command resumes where it was interrupted. "
    "[bold]--quick[/bold] takes under two minutes on two cores, compiling included.",
)

Quick = Annotated[
    bool,
    typer.Option("--quick", help="Small sizes, few repetitions: under two minutes on two cores, compiling included."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Folder to write results to, and to resume from. Default: print them and write nothing.",
    ),
]
Limit = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        min=0.001,
        help="Stop repeating one solver on one input once its runs add up to more; a solver that needs more for one "
        "run is not tried on larger inputs. Default: 20; 1 with --quick.",
        show_default=False,
    ),
]
Repetitions = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Repetitions, instead of the paper's own number.")
]
Sizes = Annotated[
    str | None, typer.Option(metavar="N,…", help="Sizes, instead of the default ones. Example: 1000,5000,20000.")
]
Clock = Annotated[
    str,
    typer.Option(
        metavar="wall|cpu",
        help="Which time to show for work on the CPU: cpu is steadier if others use the machine too.",
    ),
]
Gpu = Annotated[str, typer.Option("--device", metavar="cuda[:N]", help="The GPU of the GPU solvers.")]


Only = Annotated[
    str | None,
    typer.Option(
        metavar="PATTERN,…",
        help="Measure only these, named by part and solver as in NAME.json; * matches anything. "
        "Examples: 'table-3/*', '*/auction*'.",
    ),
]
Shown = Annotated[
    Path | None,
    typer.Option(
        "--record",
        metavar="FILE",
        help="Print the tables of this record (NAME.json) as Markdown and measure nothing; give the other options as "
        "they were when it was made.",
    ),
]
Make = Callable[["Effort", str], "Benchmark"]


def _add(name: str, module: str, about: str) -> None:
    """Add the command of a benchmark that the function of its name makes from an effort and a GPU."""

    @app.command(name, help=about)
    def command(  # pyright: ignore[reportUnusedFunction] - typer keeps it
        quick: Quick = False,
        output: Output = None,
        limit: Limit = None,
        repetitions: Repetitions = None,
        sizes: Sizes = None,
        only: Only = None,
        clock: Clock = "wall",
        gpu: Gpu = "cuda",
        record: Shown = None,
    ) -> None:
        make: Make = getattr(_loaded(module), name)
        effort = _effort(quick, limit, repetitions, sizes, only, clock)
        _run(lambda effort, _: make(effort, gpu), effort, output, record)


_add(
    "tracking",
    "tracking.tracking",
    "Time against the number of particles, and accuracy when tracking gets harder (Vasconcelos & Rosenhahn 2009).",
)
_add(
    "correcting",
    "tracking.correcting",
    "How many links an annotator has to look at, in which order, until 99.9 % are right, and how long a correction "
    "takes.",
)
_add(
    "lap",
    "reproduced.lap",
    "Dense assignment with uniform integer costs: the Hungarian methods on CPU and GPU (Date & Nagi 2016).",
)
_add(
    "auction",
    "assignment.auction",
    "Large problems of every kind, and one that fills a GPU: times, steps, the work they take, and memory.",
)
_add(
    "peers",
    "peers",
    "SciPy, scikit-image, lapx, trackpy, laptrack and btrack, those that are installed, on the same inputs, as ratios.",
)


@app.command(
    "linking",
    help="How accurate links are without settings, across gaps and at divisions, and whether probabilities hold.\n\n"
    "Compared with trackpy, laptrack and btrack, those that are installed, on the same points: simulated ones and, "
    "from --data, real.",
)
def linking_command(
    quick: Quick = False,
    output: Output = None,
    limit: Limit = None,
    repetitions: Repetitions = None,
    sizes: Sizes = None,
    only: Only = None,
    clock: Clock = "wall",
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of the real movies (mosquito_swarm, stretch_3d, ptv_tracers, tcells_3d, phallusia_pm03, "
            "hl60_3d); those that are not there are left out.",
        ),
    ] = None,
    record: Shown = None,
) -> None:
    """Measure how accurate links are."""
    from ...bench.tracking.linking import linking

    effort = _effort(quick, limit, repetitions, sizes, only, clock)
    _run(lambda effort, _: linking(effort, data), effort, output, record)


@app.command(
    "cardinality",
    help="Maximum cardinality on meshes, power-law, road and gate graphs, original and permuted (Deveci et al. 2013)."
    "\n\nWithout --quick, --sizes and files also 'large-gpu/*' and 'large-cpu/*', graphs of up to 4 million rows on "
    "which others measured their code. With --output, DIR/graphs keeps what takes long to make, 1 GB in all.",
)
def cardinality_command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE.mtx",
            help="MatrixMarket files, such as the SuiteSparse graphs of the papers, instead of the graphs made here.",
        ),
    ] = None,
    quick: Quick = False,
    output: Output = None,
    limit: Limit = None,
    repetitions: Repetitions = None,
    sizes: Annotated[str | None, typer.Option(metavar="K,…", help="Graphs of 2^K rows, instead of 14,17,20.")] = None,
    only: Only = None,
    gpu: Gpu = "cuda",
    record: Shown = None,
) -> None:
    """Measure how fast maximum matchings are found."""
    cardinality = _loaded("reproduced.cardinality.cardinality").cardinality
    effort = _effort(quick, limit, repetitions, sizes, only, clock="wall")
    _run(lambda effort, folder: cardinality(effort, gpu, files or (), folder / "graphs"), effort, output, record)


def _loaded(module: str) -> Any:
    """Return a module of the benchmarks, or say why it is not there."""
    if find_spec(f"...bench.{module.partition('.')[0]}", __package__) is None:
        console.fail(
            "the papers' tables are not in the installed package: clone the repository, run pip install -e . in it, "
            "and repeat the command."
        )
        raise typer.Exit(1)
    return import_module(f"...bench.{module}", __package__)


def _effort(
    quick: bool, limit: float | None, repetitions: int | None, sizes: str | None, only: str | None, clock: str
) -> Effort:
    from ...bench.benchmark import Effort

    return Effort(
        quick=quick,
        limit_s=limit or (1.0 if quick else 20.0),
        repetitions=repetitions,
        sizes=_whole_numbers("--sizes", sizes),
        only=tuple(part.strip() for part in only.split(",")) if only else (),
        clock=_clock(clock),
    )


def _run(make: Callable[[Effort, Path], Benchmark], effort: Effort, output: Path | None, record: Path | None) -> None:
    """Measure and show; where a folder is given, only what is missing there, and keep it there; or show a record."""
    if record is not None:
        from ...bench.benchmark import markdown
        from ...bench.measure.record import Record

        benchmark = make(effort, record.parent)
        typer.echo(markdown(benchmark, Record.read(record, benchmark.name), effort), nl=False)
        return
    if output is not None:
        written = _measured(make, effort, output)
        console.show(console.aligned([("written", str(path)) for path in written]))
        return
    with tempfile.TemporaryDirectory() as folder:
        _measured(make, effort, Path(folder))
    console.note("nothing was written; --output DIR keeps every repetition, the tables and figures.")


def _measured(make: Callable[[Effort, Path], Benchmark], effort: Effort, output: Path) -> list[Path]:
    """Measure what is missing in a folder and print the tables; return record, Markdown and figures there."""
    from ...bench.benchmark import (
        about_times,
        code_words,
        is_measured,
        markdown,
        restricted,
        shown_tables,
        why_unmeasured,
    )
    from ...bench.measure.harness import measure
    from ...bench.measure.machine import commit_of, describe_machine, one_line
    from ...bench.measure.record import Record

    benchmark = make(effort, output)
    machine = describe_machine()
    record = Record.open(output / f"{benchmark.name}.json", benchmark.name, machine, _command(), commit_of())
    page = output / f"{benchmark.name}.md"
    with usage():
        wanted = restricted(benchmark.experiments, effort.only)
    try:
        with _progress(benchmark.name) as progress:
            measure(wanted, record, effort.limit_s, clock=effort.clock, progress=progress)
    finally:  # what was measured before a Ctrl-C can be read, too
        page.write_text(markdown(benchmark, record, effort), encoding="utf-8")
    drawn = benchmark.figures(record, output)
    _print_tables(shown_tables(benchmark, record))
    console.show(
        console.aligned(
            [("machine", one_line(machine) + code_words(record)), ("times", about_times(benchmark, effort))]
        )
    )
    console.note(*why_unmeasured(wanted, record))
    if not any(is_measured(experiment, record) for experiment in wanted):
        console.fail("nothing could be measured.")
        raise typer.Exit(1)
    return [record.path, page, *drawn]


def _print_tables(tables: Iterable[Table]) -> None:
    from rich.console import Console

    shown = Console(width=None if sys.stdout.isatty() else 200)
    for table in tables:
        shown.print(table.rich())
        shown.print()


@contextmanager
def _progress(title: str) -> Generator[Callable[[int, int, str], None]]:
    """Show which cell runs: a bar on a terminal, a line now and then elsewhere."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    if not console.stderr().is_terminal:
        last = time.monotonic()

        def line(done: int, total: int, what: str) -> None:
            nonlocal last
            if time.monotonic() - last >= console.SECONDS_BETWEEN_LINES:
                last = time.monotonic()
                console.say(f"{title}: {done} of {total} measured; {what}")

        yield line
        return
    columns = TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console.stderr(), transient=True) as bars:
        task = bars.add_task(title, total=None)
        yield lambda done, total, what: bars.update(task, completed=done, total=total, description=what)


def _command() -> str:
    return shlex.join(["auctrack", *sys.argv[1:]])


def _whole_numbers(option: str, text: str | None) -> tuple[int, ...]:
    if text is None:
        return ()
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise typer.BadParameter(f"needs whole numbers above 0, separated by commas; got {text!r}.", param_hint=option)
    return tuple(map(int, parts))


def _clock(text: str) -> Literal["wall", "cpu"]:
    if text == "wall":
        return "wall"
    if text == "cpu":
        return "cpu"
    raise typer.BadParameter(f"needs wall or cpu; got {text!r}.", param_hint="--clock")
