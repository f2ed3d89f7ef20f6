// Applies a formula (formula.h) to ranges of variables on the CPU.
#ifndef PACELINE_COMMON_OPTIMIZER_APPLY_FORMULA_H_
#define PACELINE_COMMON_OPTIMIZER_APPLY_FORMULA_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "common/base/simd.h"
#include "common/optimizer/formula.h"
#include "common/optimizer/newton_schulz.h"
#include "common/optimizer/update_range.h"
#include "common/optimizer/weight_decay.h"
#include "glog/logging.h"

namespace paceline {

template <typename Formula, typename T>
struct ElementUpdates {
  Formula formula;
  StepScalars step;
  // See weight_decay.h.
  T decay_rate = 0;
  int64_t count = 0;
  const T* gradients = nullptr;
  // The variable, then its slots.
  T* tensors[1 + Formula::kSlotCount] = {};
};

// `t` are the numbers of the tensors. They are template arguments, since a loop
// over tensors would prevent the compiler from vectorising the loop over
// elements.
template <typename Formula, typename T, int... t>
[[gnu::always_inline]] inline void UpdateElement(
    const ElementUpdates<Formula, T>& updates, int64_t i,
    std::integer_sequence<int, t...> /*tensors*/) {
  T element[] = {updates.tensors[t][i]...};
  element[0] = Decayed(element[0], updates.decay_rate);
  updates.formula(updates.step, updates.gradients[i], element[0], element + 1);
  ((updates.tensors[t][i] = element[t]), ...);
}

template <typename Formula, typename T>
[[gnu::always_inline]] inline void UpdateEach(
    const ElementUpdates<Formula, T>& u) {
  constexpr auto kTensors =
      std::make_integer_sequence<int, 1 + Formula::kSlotCount>();
#pragma omp simd
  for (int64_t i = 0; i < u.count; ++i) UpdateElement(u, i, kTensors);
}

// Updates the slots of an element by a formula with norms, and returns its
// direction.
template <typename Formula, typename T, int... t>
[[gnu::always_inline]] inline T UpdateSlotsOfElement(
    const ElementUpdates<Formula, T>& updates, int64_t i,
    std::integer_sequence<int, t...> /*slots*/) {
  T slots[] = {updates.tensors[1 + t][i]...};
  updates.formula.UpdateSlots(updates.step, updates.gradients[i], slots);
  ((updates.tensors[1 + t][i] = slots[t]), ...);
  return updates.formula.Direction(updates.step, slots);
}

template <typename Formula, typename T, int... t>
[[gnu::always_inline]] inline void MoveElement(
    const ElementUpdates<Formula, T>& updates, T rate, int64_t i,
    std::integer_sequence<int, t...> /*slots*/) {
  const T slots[] = {updates.tensors[1 + t][i]...};
  T& w = updates.tensors[0][i];
  w = Decayed(w, updates.decay_rate) -
      rate * updates.formula.Direction(updates.step, slots);
}

template <typename Formula, typename T>
[[gnu::always_inline]] inline void UpdateByNorms(
    const ElementUpdates<Formula, T>& u) {
  constexpr auto kSlots =
      std::make_integer_sequence<int, Formula::kSlotCount>();
  double norm = 0;
  double direction_norm = 0;
#pragma omp simd reduction(+ : norm, direction_norm)
  for (int64_t i = 0; i < u.count; ++i) {
    const auto w = static_cast<double>(Decayed(u.tensors[0][i], u.decay_rate));
    const auto r = static_cast<double>(UpdateSlotsOfElement(u, i, kSlots));
    norm += w * w;
    direction_norm += r * r;
  }
  const T rate = static_cast<T>(
      u.step[0] *
      u.formula.TrustRatio(std::sqrt(norm), std::sqrt(direction_norm)));
#pragma omp simd
  for (int64_t i = 0; i < u.count; ++i) MoveElement(u, rate, i, kSlots);
}

// Updates the slots of an element by a formula for matrices, and returns its
// direction.
template <typename Formula, typename T, int... t>
[[gnu::always_inline]] inline T DirectionOfElement(
    const ElementUpdates<Formula, T>& updates, int64_t i,
    std::integer_sequence<int, t...> /*slots*/) {
  T slots[] = {updates.tensors[1 + t][i]...};
  const T direction =
      updates.formula.UpdateSlots(updates.step, updates.gradients[i], slots);
  ((updates.tensors[1 + t][i] = slots[t]), ...);
  return direction;
}

template <typename Formula, typename T>
[[gnu::always_inline]] inline void UpdateMatrix(
    const ElementUpdates<Formula, T>& u) {
  constexpr auto kSlots =
      std::make_integer_sequence<int, Formula::kSlotCount>();
  std::vector<T> matrix(u.count);
  T* const direction = matrix.data();
#pragma omp simd
  for (int64_t i = 0; i < u.count; ++i) {
    direction[i] = DirectionOfElement(u, i, kSlots);
  }
  Orthogonalize(u.formula.iteration, u.formula.rows, u.formula.columns,
                absl::MakeSpan(matrix));
#pragma omp simd
  for (int64_t i = 0; i < u.count; ++i) {
    T& w = u.tensors[0][i];
    w = Decayed(w, u.decay_rate);
    u.formula.Move(u.step, direction[i], w);
  }
}

template <typename Formula, typename T>
[[gnu::always_inline]] inline void UpdateLoop(
    const ElementUpdates<Formula, T>& updates) {
  // A copy, so that the compiler knows that no store changes it.
  const ElementUpdates<Formula, T> u = updates;
  if constexpr (HasNorms<Formula>) {
    UpdateByNorms(u);
  } else if constexpr (UpdatesMatrices<Formula>) {
    UpdateMatrix(u);
  } else {
    UpdateEach(u);
  }
}

template <typename Formula>
PACELINE_MULTIVERSION void UpdateElements(
    const ElementUpdates<Formula, float>& updates) {
  UpdateLoop(updates);
}

// Not vectorised by instruction set: float64 is the reference, so it gives the
// same bits on all machines.
template <typename Formula>
void UpdateElements(const ElementUpdates<Formula, double>& updates) {
  UpdateLoop(updates);
}

// Decays and updates each element of the range. The range's first slots must be
// those of the formula. If the formula updates whole variables, the range must
// be one variable. Allocates only for matrices.
template <typename Formula, typename T>
void ApplyFormula(const Formula& formula, const StepScalars& step,
                  const UpdateRange<T>& range, T decay_rate = 0) {
  CHECK_GE(range.slots.size(), static_cast<size_t>(Formula::kSlotCount));
  ElementUpdates<Formula, T> updates;
  updates.formula = formula;
  updates.step = step;
  updates.decay_rate = decay_rate;
  updates.count = static_cast<int64_t>(range.values.size());
  updates.gradients = range.gradients.data();
  updates.tensors[0] = range.values.data();
  for (int slot = 0; slot < Formula::kSlotCount; ++slot) {
    updates.tensors[1 + slot] = range.slots[slot].data();
  }
  UpdateElements(updates);
}

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_APPLY_FORMULA_H_
