"""Data sets as people have them, and what is wrong with those that cannot be read."""

import numpy as np
import pytest
import scipy.io

from pipelines.bench.data.reading import find, names, read_samples
from pose.errors import DataError

X = np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]])
Y = np.array([[7.0], [8.0], [9.0]])


def write_csv(path, text, encoding="utf-8"):
    path.write_text(text, encoding=encoding)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "1,2,7\n3,5,8\n4,4,9\n",
        "a,b,c\r\n1,2,7\r\n3,5,8\r\n4,4,9\r\n",
        "a;b;c\n1;2;7\n3;5;8\n\n4;4;9",
        "1 2 7\n3 5 8\n  4   4  9\n",
        "1\t2\t7\n3\t5\t8\n4\t4\t9\n",
        "y, first, second\n7, 1, 2\n8, 3, 5\n9, 4, 4\n",
        'first,"Target",second\n1,7,2\n3,8,5\n4,9,4e0\n',
    ],
)
def test_a_csv_file_with_any_separator_and_headings(tmp_path, text):
    for encoding in ("utf-8", "utf-8-sig"):
        inputs, outputs = read_samples(write_csv(tmp_path / "a.csv", text, encoding))
        np.testing.assert_array_equal(inputs, X)
        np.testing.assert_array_equal(outputs, Y)


def test_a_csv_file_with_several_outputs(tmp_path):
    inputs, outputs = read_samples(write_csv(tmp_path / "a.csv", "y1,x,y2\n1,2,3\n4,5,6\n"))
    np.testing.assert_array_equal(inputs, [[2], [5]])
    np.testing.assert_array_equal(outputs, [[1, 3], [4, 6]])


def test_npz_and_mat_files(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, y=Y[:, 0])
    np.savez(tmp_path / "b.npz", X=X.astype(np.float32), Y=np.c_[Y, -Y])
    scipy.io.savemat(tmp_path / "c.mat", {"X": X, "y": Y[:, 0]})  # a row vector there
    scipy.io.savemat(tmp_path / "d.mat", {"anything": np.c_[X, Y]})
    for name in ("a.npz", "c.mat", "d.mat"):
        inputs, outputs = read_samples(tmp_path / name)
        np.testing.assert_array_equal(inputs, X)
        np.testing.assert_array_equal(outputs, Y)
    np.testing.assert_array_equal(read_samples(tmp_path / "b.npz")[1], np.c_[Y, -Y])


def test_of_sarcos_the_first_torque_is_the_output(tmp_path):
    matrix = np.random.default_rng(0).standard_normal((5, 28))
    scipy.io.savemat(tmp_path / "sarcos_inv.mat", {"sarcos_inv": matrix})
    assert names(tmp_path) == ["sarcos"]
    path = find(tmp_path, "sarcos")
    inputs, outputs = read_samples(path)
    np.testing.assert_array_equal(inputs, matrix[:, :21])
    np.testing.assert_array_equal(outputs, matrix[:, 21:22])


def test_a_data_set_is_found_by_its_name(tmp_path):
    write_csv(tmp_path / "a.csv", "1,2\n3,4\n")
    write_csv(tmp_path / "notes.txt", "")
    assert find(tmp_path, "a") == tmp_path / "a.csv"
    assert find(tmp_path, "b") is None
    np.savez(tmp_path / "a.npz", X=X, y=Y)
    with pytest.raises(DataError, match=r"a\.npz and a\.csv are one data set; keep one"):
        find(tmp_path, "a")
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is empty"),
        ("1,2,3\n", "has 1 row, two or more"),
        ("a,b\n", "has 0 rows, two or more"),
        ("1,2\n3,nan\n5,6\n", "1 values of y are not finite, the first in row 2, column 1"),
        ("1,inf,2\n3,nan,4\n5,1,6\n", "2 values of X are not finite, the first in row 1, column 2"),
        ("1,5,2\n3,5,4\n", "column 2 of X is constant: remove it"),
        ("1,5\n3,5\n", "column 1 of y is constant"),
        ("x,colour,y\n1,red,2\n3,,4\n", "column 2 (colour) holds text ('red') in line 2; numbers are needed"),
        ("1,,2\n3,4,4\n", "column 2 holds nothing in line 1"),
        ("x;y\n1,5;2\n3;4\n", "column 1 (x) holds text ('1,5') in line 2"),
        ("1,2\n3\n4,5,6\n", "line 2 has 1 cells; line 3 has 3 cells, not 2"),
        ("1\n2\n", "has 1 column"),
        ("y,y2\n1,2\n3,4\n", "all columns are outputs"),
        ("1,1e200,2\n3,4,5\n", "1 values of X are beyond 1e+100, the first in row 1, column 2"),
        ("1,-2e100\n3,4\n", "1 values of y are beyond 1e+100, the first in row 1, column 1"),
        ("1e-200,2\n3e-200,4\n", "column 1 of X varies by 2e-200 alone: take off its mean, or choose another unit"),
        ("1,1000000000.01\n3,1000000000.02\n", "column 1 of y varies by 0.01 alone: take off its mean"),
        ("1,2\n" + 140_000 * "3" + ",4\n", "cannot be read as csv (line 2: field larger than field limit (131072))"),
    ],
)
def test_a_wrong_csv_file_is_one_clear_line(tmp_path, text, fault):
    path = write_csv(tmp_path / "a.csv", text)
    with pytest.raises(DataError) as caught:
        read_samples(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert message.count(str(path)) == 1
    assert fault in message
    assert "\n" not in message


def test_other_wrong_files_are_named(tmp_path):
    (tmp_path / "broken.npz").write_bytes(b"no archive")
    (tmp_path / "broken.mat").write_bytes(b"no matrix")
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    np.savez(tmp_path / "uneven.npz", X=np.ones((3, 2)), y=np.ones(4))
    np.savez(tmp_path / "words.npz", X=X, y=np.array(["a", "b", "c"]))
    np.savez(tmp_path / "complex.npz", X=X + 1j, y=Y)
    (tmp_path / "cut.npz").write_bytes((tmp_path / "uneven.npz").read_bytes()[:200])
    np.savez(tmp_path / "objects.npz", X=X, y=np.array([1, None, 2], dtype=object))
    scipy.io.savemat(tmp_path / "two.mat", {"a": X, "b": X})
    scipy.io.savemat(tmp_path / "thin.mat", {"a": Y})
    faults = {
        "broken.npz": "cannot be read as npz",
        "broken.mat": "cannot be read as mat",
        "other.npz": r"needs X \(n, d\) and y \(n,\) or Y \(n, q\); it holds x",
        "uneven.npz": "must have the same rows",
        "words.npz": "y must hold real numbers",
        "complex.npz": "X must hold real numbers",
        "cut.npz": "cannot be read as npz",
        "objects.npz": "cannot be read as npz",
        "two.mat": "needs X and y or Y, or one matrix; it holds a, b",
        "thin.mat": "has 1 column;",
    }
    for name, fault in faults.items():
        with pytest.raises(DataError, match=fault) as caught:
            read_samples(tmp_path / name)
        assert str(caught.value).count(str(tmp_path)) == 1


def test_constant_columns_are_allowed_where_they_belong(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.c_[X, np.zeros(3)], Y=np.c_[Y, np.zeros(3)])
    inputs, outputs = read_samples(tmp_path / "a.npz", constants=True)
    assert (inputs.shape, outputs.shape) == ((3, 3), (3, 2))
