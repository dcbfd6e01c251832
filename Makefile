# Everything sets itself up: a virtual environment in .venv, from pyproject.toml.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
USE := $(VENV)/.installed
STAMP := $(VENV)/.installed-test
export MPLBACKEND := Agg
# Containers set this; without bytecode every process that the tests start compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all check format pictures clean

## demo: track the sample movie; prints where the tracks and the picture went
demo: $(USE)
	$(BIN)/auctrack track sample_data/movie.ome.tif --output demo --picture --overwrite

PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadfile

## test: style, types, the three floors, and the tests for every change, in minutes
test: check
	$(PYTEST) -m "not gpu and not multigpu and not kernels and not window"

## test-all: the same, with all CUDA kernels compiled and run on the host, and the napari plugin in a real viewer; what CI runs
test-all: check
	.ci/display
	$(PYTEST)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

## pictures: the README's pictures of the tracks and of the napari plugin, made again (sample_data/pictures)
pictures: $(STAMP) demo
	cp demo/movie.tracks.png sample_data/pictures/sample_movie_tracks.png
	.ci/display
	$(if $(DISPLAY),,xvfb-run -a -s "-screen 0 1600x1100x24") $(BIN)/python -m auctrack.plugins.napari.scripted.screenshots sample_data/pictures

clean:
	rm -rf $(VENV) demo build dist *.egg-info

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "auctrack needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)

# What the program needs, and beside it what the tests need.
$(USE): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(STAMP): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $(USE) $@
