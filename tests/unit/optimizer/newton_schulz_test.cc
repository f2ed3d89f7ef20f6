#include "common/optimizer/newton_schulz.h"

#include <cmath>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace paceline {
namespace {

// What the iteration makes of a singular value.
double Polynomial(const NewtonSchulz& iteration, double s) {
  for (int64_t step = 0; step < iteration.steps; ++step) {
    s = iteration.a * s + iteration.b * s * s * s +
        iteration.c * s * s * s * s * s;
  }
  return s;
}

// A unit vector.
std::vector<double> Direction(int64_t size, double phase) {
  std::vector<double> values(size);
  double squares = 0;
  for (int64_t i = 0; i < size; ++i) {
    values[i] = std::sin(phase + 1.7 * static_cast<double>(i));
    squares += values[i] * values[i];
  }
  for (double& value : values) value /= std::sqrt(squares);
  return values;
}

template <typename T>
void ExpectSingularValueMoves(const NewtonSchulz& iteration, int64_t rows,
                              int64_t columns, double tolerance) {
  // Of rank one: its only singular value is 5, and 1 once it is divided by its
  // norm.
  const std::vector<double> u = Direction(rows, 0.3);
  const std::vector<double> v = Direction(columns, 1.1);
  std::vector<T> matrix;
  for (const double left : u) {
    for (const double right : v) {
      matrix.push_back(static_cast<T>(5 * left * right));
    }
  }
  Orthogonalize(iteration, rows, columns, absl::MakeSpan(matrix));
  const double moved = Polynomial(iteration, 1);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      ASSERT_NEAR(matrix[i * columns + j], moved * u[i] * v[j], tolerance)
          << rows << " x " << columns << " at " << i << ", " << j;
    }
  }
}

TEST(NewtonSchulzTest, SingularVectorsStayAndValuesMoveByThePolynomial) {
  for (const NewtonSchulz& iteration :
       {NewtonSchulz(),
        NewtonSchulz{.a = 2, .b = -1.5, .c = 0.5, .steps = 1}}) {
    for (const int64_t rows : {1, 2, 3, 4, 5, 9, 37}) {
      for (const int64_t columns : {1, 3, 4, 7, 16, 65}) {
        ExpectSingularValueMoves<double>(iteration, rows, columns, 1e-6);
        ExpectSingularValueMoves<float>(iteration, rows, columns, 1e-4);
      }
    }
  }
}

using Matrix = std::vector<double>;

// Of A (rows, inner) and B (inner, columns).
Matrix Product(const Matrix& a, const Matrix& b, int64_t rows, int64_t inner,
               int64_t columns) {
  Matrix result(rows * columns);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < inner; ++k) {
      for (int64_t j = 0; j < columns; ++j) {
        result[i * columns + j] += a[i * inner + k] * b[k * columns + j];
      }
    }
  }
  return result;
}

Matrix Transposed(const Matrix& matrix, int64_t rows, int64_t columns) {
  Matrix result(matrix.size());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      result[j * rows + i] = matrix[i * columns + j];
    }
  }
  return result;
}

Matrix SomeMatrix(int64_t count) {
  Matrix matrix;
  for (int64_t i = 0; i < count; ++i) {
    matrix.push_back(std::sin(static_cast<double>(i * i)));
  }
  return matrix;
}

// A step, as the formula has it.
Matrix StepOf(const NewtonSchulz& iteration, const Matrix& g, int64_t rows,
              int64_t columns) {
  double squares = 0;
  for (const double value : g) squares += value * value;
  Matrix x = g;
  for (double& value : x) value /= std::sqrt(squares) + 1e-7;
  const Matrix a =
      Product(x, Transposed(x, rows, columns), rows, columns, rows);
  Matrix polynomial = Product(a, a, rows, rows, rows);
  for (size_t i = 0; i < a.size(); ++i) {
    polynomial[i] = iteration.b * a[i] + iteration.c * polynomial[i];
  }
  Matrix next = Product(polynomial, x, rows, rows, columns);
  for (size_t i = 0; i < x.size(); ++i) next[i] += iteration.a * x[i];
  return next;
}

// More rows and columns than a tile has, than a panel has, and not multiples.
TEST(NewtonSchulzTest, AStepIsThatOfTheFormula) {
  const NewtonSchulz iteration = {.steps = 1};
  for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{
           {5, 8}, {6, 17}, {20, 600}, {261, 275}}) {
    const Matrix g = SomeMatrix(rows * columns);
    const Matrix expected = StepOf(iteration, g, rows, columns);
    Matrix wide = g;
    Orthogonalize(iteration, rows, columns, absl::MakeSpan(wide));
    Matrix tall = Transposed(g, rows, columns);
    Orthogonalize(iteration, columns, rows, absl::MakeSpan(tall));
    tall = Transposed(tall, columns, rows);
    std::vector<float> floats(g.begin(), g.end());
    Orthogonalize(iteration, rows, columns, absl::MakeSpan(floats));
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(wide[i], expected[i], 1e-12) << rows << ": " << i;
      ASSERT_NEAR(tall[i], expected[i], 1e-12) << rows << ": " << i;
      ASSERT_NEAR(floats[i], expected[i], 1e-5) << rows << ": " << i;
    }
  }
}

// With Newton's own coefficients the iteration converges to U Vᵀ.
TEST(NewtonSchulzTest, ConvergesToTheOrthogonalFactor) {
  const NewtonSchulz cubic = {.a = 1.5, .b = -0.5, .c = 0, .steps = 60};
  constexpr int64_t kRows = 6;
  constexpr int64_t kColumns = 3;
  const Matrix g = SomeMatrix(kRows * kColumns);
  Matrix factor = g;
  Orthogonalize(cubic, kRows, kColumns, absl::MakeSpan(factor));
  const Matrix transposed = Transposed(factor, kRows, kColumns);
  const Matrix identity =
      Product(transposed, factor, kColumns, kRows, kColumns);
  // V S Vᵀ, which no other orthogonal matrix gives: symmetric and positive.
  const Matrix rest = Product(transposed, g, kColumns, kRows, kColumns);
  for (int64_t a = 0; a < kColumns; ++a) {
    EXPECT_GT(rest[a * kColumns + a], 0);
    for (int64_t b = 0; b < kColumns; ++b) {
      EXPECT_NEAR(identity[a * kColumns + b], a == b ? 1 : 0, 1e-9);
      EXPECT_NEAR(rest[a * kColumns + b], rest[b * kColumns + a], 1e-9);
    }
  }
}

TEST(NewtonSchulzTest, NanStaysNan) {
  std::vector<float> matrix(15, 1);
  matrix[7] = std::nanf("");
  Orthogonalize(NewtonSchulz(), 3, 5, absl::MakeSpan(matrix));
  for (const float value : matrix) EXPECT_TRUE(std::isnan(value));
}

TEST(NewtonSchulzTest, ZerosStayZeros) {
  std::vector<float> matrix(15);
  Orthogonalize(NewtonSchulz(), 3, 5, absl::MakeSpan(matrix));
  for (const float value : matrix) EXPECT_EQ(value, 0);
}

}  // namespace
}  // namespace paceline
