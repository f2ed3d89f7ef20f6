#include "common/optimizer/newton_schulz.h"

#include <cmath>
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

// With Newton's own coefficients the iteration converges to U Vᵀ.
TEST(NewtonSchulzTest, ConvergesToTheOrthogonalFactor) {
  const NewtonSchulz cubic = {.a = 1.5, .b = -0.5, .c = 0, .steps = 60};
  constexpr int64_t kRows = 6;
  constexpr int64_t kColumns = 3;
  std::vector<double> matrix;
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    matrix.push_back(std::sin(static_cast<double>(i * i)));
  }
  Orthogonalize(cubic, kRows, kColumns, absl::MakeSpan(matrix));
  for (int64_t a = 0; a < kColumns; ++a) {
    for (int64_t b = 0; b < kColumns; ++b) {
      double product = 0;
      for (int64_t i = 0; i < kRows; ++i) {
        product += matrix[i * kColumns + a] * matrix[i * kColumns + b];
      }
      EXPECT_NEAR(product, a == b ? 1 : 0, 1e-9) << a << " " << b;
    }
  }
}

TEST(NewtonSchulzTest, ZerosStayZeros) {
  std::vector<float> matrix(15);
  Orthogonalize(NewtonSchulz(), 3, 5, absl::MakeSpan(matrix));
  for (const float value : matrix) EXPECT_EQ(value, 0);
}

}  // namespace
}  // namespace paceline
