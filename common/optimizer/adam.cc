#include "common/optimizer/adam.h"

#include <algorithm>
#include <cmath>

#include "common/base/simd.h"
#include "common/optimizer/base_fields.h"

namespace paceline {

// What one update needs, for one range. `v_max` is null without amsgrad.
template <typename T>
struct AdamUpdate {
  int64_t count;
  T* w;
  const T* g;
  T* m;
  T* v;
  T* v_max;
  T step_size;
  T one_minus_beta_1;
  T one_minus_beta_2;
  T epsilon;
};

namespace {

template <bool kAmsgrad, typename T>
inline __attribute__((always_inline)) void RunLoop(
    const AdamUpdate<T>& update) {
  // A copy, so that the compiler knows that no store changes it.
  const AdamUpdate<T> u = update;
#pragma omp simd
  for (int64_t i = 0; i < u.count; ++i) {
    const T gradient = u.g[i];
    const T momentum = u.m[i] + (gradient - u.m[i]) * u.one_minus_beta_1;
    T velocity = u.v[i] + (gradient * gradient - u.v[i]) * u.one_minus_beta_2;
    u.m[i] = momentum;
    u.v[i] = velocity;
    if constexpr (kAmsgrad) {
      velocity = velocity > u.v_max[i] ? velocity : u.v_max[i];
      u.v_max[i] = velocity;
    }
    u.w[i] -= u.step_size * momentum / (std::sqrt(velocity) + u.epsilon);
  }
}

}  // namespace

PACELINE_MULTIVERSION
void RunAdam(const AdamUpdate<float>& update) { RunLoop<false>(update); }
PACELINE_MULTIVERSION
void RunAmsgrad(const AdamUpdate<float>& update) { RunLoop<true>(update); }
void RunAdam(const AdamUpdate<double>& update) { RunLoop<false>(update); }
void RunAmsgrad(const AdamUpdate<double>& update) { RunLoop<true>(update); }

namespace {

template <typename T>
void ApplyAdam(const Adam& adam, int64_t iterations,
               const UpdateRange<T>& range) {
  const AdamUpdate<T> update{static_cast<int64_t>(range.values.size()),
                             range.values.data(),
                             range.gradients.data(),
                             range.slots[0].data(),
                             range.slots[1].data(),
                             adam.amsgrad ? range.slots[2].data() : nullptr,
                             static_cast<T>(adam.StepSize(iterations)),
                             static_cast<T>(1 - adam.beta_1),
                             static_cast<T>(1 - adam.beta_2),
                             static_cast<T>(adam.epsilon)};
  if (adam.amsgrad) {
    RunAmsgrad(update);
  } else {
    RunAdam(update);
  }
}

}  // namespace

const FieldTable<Adam>& Adam::Fields() {
  static const auto& table = *new FieldTable<Adam>(
      "Adam", "Adam, with adaptive estimates of the gradients' moments.",
      WithBaseFields<Adam>({
          Optional("beta_1", &Adam::beta_1, Within(0, 1),
                   "Decay of the mean of the gradients."),
          Optional("beta_2", &Adam::beta_2, Within(0, 1),
                   "Decay of the mean of their squares."),
          Optional("epsilon", &Adam::epsilon, AtLeast(0),
                   "Keeps the divisor from zero."),
          Optional("amsgrad", &Adam::amsgrad,
                   "Whether the largest mean of squares so far is used."),
      }));
  return table;
}

std::vector<std::string> Adam::slot_names() const {
  if (amsgrad) return {"momentum", "velocity", "velocity_hat"};
  return {"momentum", "velocity"};
}

double Adam::LearningRate(int64_t iterations) const {
  return learning_rate.At(iterations);
}

double Adam::StepSize(int64_t iterations) const {
  const double t = static_cast<double>(iterations) + 1;
  return LearningRate(iterations) * std::sqrt(1 - std::pow(beta_2, t)) /
         (1 - std::pow(beta_1, t));
}

void Adam::Apply(int64_t iterations, UpdateRange<float> range) const {
  ApplyAdam(*this, iterations, range);
}

void Adam::Apply(int64_t iterations, UpdateRange<double> range) const {
  ApplyAdam(*this, iterations, range);
}

}  // namespace paceline
