"""The regression problems of the benchmarks: simulated ones, and those in a folder of data.

A folder holds files that `pipelines.bench.data.reading` reads. It may hold hyperparameters.json,
{NAME: {"gamma": number or list (d,), "noise": number}}, for inputs and outputs scaled as in this module.
Hyperparameters that it does not give are fitted once.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from gbcd import SquaredExponential, fit_hyperparameters
from pipelines.bench.data.reading import Samples, find, names, read_samples
from pipelines.bench.data.simulated import SIMULATED
from pipelines.bench.runner.cell import Parameters
from pipelines.digest import digest
from pipelines.progress import Reporter
from pose.errors import DataError
from pose.files import atomic_path
from pose.types import FloatArray

# Round numbers between the fits by marginal likelihood and by held-out blocks of video, for standardised joints.
HISTOSC_GAMMA, HISTOSC_NOISE = 3e-3, 1e-2
WORDS = 400
"""Number of shape contexts counted in a HistoSC histogram."""

HYPERPARAMETERS = "hyperparameters.json"

RESERVED = (*SIMULATED, "histosc_like")
"""Names of problems made by this module; a data file must not have one of them."""


@dataclass(frozen=True)
class Problem:
    """A drawn problem, scaled for the kernel.

    Attributes
    ----------
    X : array (n, d)
    Y : array (n, q)
    X_test : array (t, d)
        Scaled as X.
    Y_test : array (t, q)
        Scaled as Y; without noise where the problem is simulated.
    kernel : SquaredExponential
    noise : float
    """

    X: FloatArray
    Y: FloatArray
    X_test: FloatArray
    Y_test: FloatArray
    kernel: SquaredExponential
    noise: float


class Catalogue:
    """The problems that exist, and the parameters of their kernels.

    Parameters
    ----------
    folder : Path or None
        The folder of data.
    fits : Path
        JSON file in which fitted parameters are kept.
    reporter : Reporter
        Gets a fault for each file that is left out.
    """

    def __init__(self, folder: Path | None, fits: Path, reporter: Reporter) -> None:
        self.folder, self._fits, self._reporter = folder, fits, reporter
        self._known: dict[str, dict[str, Any]] = {}
        self._rows: dict[str, int] = {}
        self._missing: dict[str, str] = {}
        found = [] if folder is None else names(folder)
        self._names = [name for name in found if name not in RESERVED and name != "histosc"]
        for name in found:
            if name in RESERVED:
                reporter.fault(f"{folder}: the file {name} has the name of a problem that is made here; rename it")

    @property
    def names(self) -> list[str]:
        """Names of the regression problems of the folder, also of those that cannot be used."""
        return self._names

    def missing(self, name: str) -> str:
        """Return why this problem cannot be drawn; empty if it can be."""
        if name in SIMULATED:
            return ""
        if name not in self._missing:
            self._missing[name] = self._look_up(name)
        return self._missing[name]

    def most(self, name: str, share: float) -> int:
        """Return the number of rows in this share of a problem's file.

        Raises
        ------
        DataError
            If the file is missing or faulty.
        """
        self._require(name)
        return int(share * self._rows[name])

    def specify(self, name: str, n: int) -> dict[str, Any]:
        """Return the JSON parameters `draw` takes: the name, n, gamma and noise, and a digest of the file.

        Raises
        ------
        DataError
            If there is no such problem, or its file is faulty.
        """
        if name in SIMULATED:
            gamma = SIMULATED[name].gamma
            return {
                "name": name,
                "n": n,
                "gamma": gamma if isinstance(gamma, float) else list(gamma),
                "noise": SIMULATED[name].noise,
            }
        self._require(name)
        return {"name": name, "n": n, **self._known[name]}

    def _require(self, name: str) -> None:
        if self.missing(name):
            raise DataError(f"{name}: {self.missing(name)}")

    def _look_up(self, name: str) -> str:
        """Read a problem's file and its hyperparameters, and return what is wrong with them; empty if nothing is."""
        folder, stem = self.folder, _file_stem(name)
        try:
            if folder is None or (path := find(folder, stem)) is None:
                return f"needs --data with {stem}.npz, .csv or .mat"
            X, Y = _read(folder, name)
            key = digest(path)[:16]
            self._known[name] = {"digest": key, **self._hyperparameters(folder, name, key, X, Y)}
            self._rows[name] = len(X)
        except DataError as error:
            self._reporter.fault(str(error))
            # The text goes into tables for other people, so the folder's path is left out.
            return str(error).replace(f"{folder}{os.sep}", "").replace(f"{folder}: ", "")
        return ""

    def _hyperparameters(self, folder: Path, name: str, key: str, X: FloatArray, Y: FloatArray) -> dict[str, Any]:
        given = _read_hyperparameters(folder / HYPERPARAMETERS).get(name)
        if given is not None:
            return {"gamma": given["gamma"], "noise": given["noise"]}
        if name.startswith("histosc"):
            return {"gamma": HISTOSC_GAMMA, "noise": HISTOSC_NOISE}
        fitted = _read_hyperparameters(self._fits)
        if name not in fitted or fitted[name].get("digest") != key:
            self._reporter.say(f"{name}: fitting gamma and noise, which {folder / HYPERPARAMETERS} does not give")
            try:
                fit = fit_hyperparameters(
                    StandardScaler().fit_transform(X),
                    StandardScaler().fit_transform(Y),
                    random_state=0,
                    fit_amplitude=False,  # the paper's kernel has none
                )
            except ValueError as error:
                raise DataError(f"{_source(folder, name)}: gamma and noise cannot be fitted ({error})") from error
            gamma = [float(f"{value:.6g}") for value in np.exp(fit.kernel.log_parameters)]
            fitted[name] = {"gamma": gamma, "noise": float(f"{fit.noise:.6g}"), "digest": key}
            with atomic_path(self._fits) as temporary:
                temporary.write_text(json.dumps(fitted, indent=1))
        return {"gamma": fitted[name]["gamma"], "noise": fitted[name]["noise"]}


def draw(specified: Parameters, folder: Path | None, n_test: int = 1000, seed: int = 0) -> Problem:
    """Draw a problem.

    Parameters
    ----------
    specified : dict
        From `Catalogue.specify`.
    folder : Path or None
    n_test : int
        Number of test samples; fewer, or none, if the file has too few rows.
    seed : int

    Raises
    ------
    DataError
        If the file is faulty, or has fewer than n rows.
    """
    name, n = specified["name"], specified["n"]
    rng = np.random.default_rng(seed)
    kernel = SquaredExponential(specified["gamma"])
    if name in SIMULATED:
        X, Y, X_test, Y_test = _simulate(name, n, n_test, rng)
    elif folder is None:
        raise DataError(f"{name}: needs --data with {_file_stem(name)}.npz, .csv or .mat")
    elif name == "histosc_like":
        X, Y = _mix(*_read(folder, name), n + n_test, rng)
        X, Y, X_test, Y_test = X[:n], Y[:n], X[n:], Y[n:]
    else:
        X, Y = _read(folder, name)
        if n > len(X):
            raise DataError(f"{_source(folder, name)}: has {len(X):,} rows, {n:,} are asked for")
        rows = rng.permutation(len(X))
        train, test = rows[:n], rows[n : n + n_test]
        X, Y, X_test, Y_test = X[train], Y[train], X[test], Y[test]
    scale = _scale_histograms if name.startswith("histosc") else _standardise
    return Problem(*scale(X, Y, X_test, Y_test), kernel, specified["noise"])


Sample = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def _simulate(name: str, n: int, n_test: int, rng: np.random.Generator) -> Sample:
    problem = SIMULATED[name]
    function = problem.outputs(rng)
    X = problem.inputs(rng, n)
    clean = function(X)
    Y = clean + problem.noise_of(clean) * rng.standard_normal(clean.shape)
    X_test = problem.inputs(rng, n_test)
    return X, Y, X_test, function(X_test)


def _mix(H: FloatArray, Y: FloatArray, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw n histograms (n, words) like those given, and their outputs, as mixtures of two successive rows.

    A mixture gives the probability of each word, and the words are drawn from it. So no two rows are nearly equal,
    unlike those of successive video frames.
    """
    first = rng.integers(len(H) - 1, size=n)
    share = rng.random((n, 1))
    words = share * H[first] + (1 - share) * H[first + 1]
    words /= words.sum(axis=1, keepdims=True)
    return rng.multinomial(WORDS, words) / WORDS, share * Y[first] + (1 - share) * Y[first + 1]


def _standardise(X: FloatArray, Y: FloatArray, X_test: FloatArray, Y_test: FloatArray) -> Sample:
    """Bring every column to mean 0 and variance 1 over the training rows."""
    inputs, outputs = StandardScaler().fit(X), StandardScaler().fit(Y)
    if len(X_test) == 0:
        return inputs.transform(X), outputs.transform(Y), X_test, Y_test
    return inputs.transform(X), outputs.transform(Y), inputs.transform(X_test), outputs.transform(Y_test)


def _scale_histograms(X: FloatArray, Y: FloatArray, X_test: FloatArray, Y_test: FloatArray) -> Sample:
    """Divide all words by one number, and all centred joints by another: words share one unit, and so do joints."""
    centre = Y.mean(axis=0)
    spread, reach = X.std(), (Y - centre).std()
    return X / spread, (Y - centre) / reach, X_test / spread, (Y_test - centre) / reach


def _file_stem(name: str) -> str:
    return "histosc" if name == "histosc_like" else name


def _source(folder: Path, name: str) -> Path:
    path = find(folder, _file_stem(name))
    if path is None:
        raise DataError(f"{folder}: has no {_file_stem(name)}.npz, .csv or .mat")
    return path


def _read(folder: Path, name: str) -> Samples:
    return read_samples(_source(folder, name), constants=name.startswith("histosc"))


def _read_hyperparameters(path: Path) -> dict[str, dict[str, Any]]:
    """Return a file's entries; none if there is no file."""
    if not path.is_file():
        return {}
    try:
        entries = json.loads(path.read_text())
        for entry in entries.values():
            SquaredExponential(entry["gamma"])
            if not float(entry["noise"]) > 0:
                raise ValueError("noise must be positive")
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(f'{path}: not {{"NAME": {{"gamma": ..., "noise": ...}}}} ({error})') from error
    return dict(entries)
