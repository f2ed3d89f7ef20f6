// Muon (Jordan et al., 2024; Liu et al., 2025), as computed by
// keras.optimizers.Muon. For a variable with two axes:
//
//   w -= lr · weight_decay · w
//   m = momentum · m + g
//   d = g + momentum · m                 (without `nesterov`: d = m)
//   w -= lr · rms_rate · sqrt(max(rows, columns)) · Orthogonalize(d)
//
// Orthogonalize is defined in newton_schulz.h. Without rms_rate the update is
// lr · Orthogonalize(d).
//
// Adam (adam.h), with lr · adam_lr_ratio and weight decay adam_weight_decay,
// updates all other variables: those that do not have two axes, and those
// selected by `exclude_layers` or `exclude_embeddings`. Keras looks for these
// strings in a variable's path, which may start with the names of enclosing
// models; here in the name "<layer>/<variable>".
#ifndef PACELINE_COMMON_OPTIMIZER_MUON_H_
#define PACELINE_COMMON_OPTIMIZER_MUON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/base/host_device.h"
#include "common/optimizer/adam.h"
#include "common/optimizer/formula.h"
#include "common/optimizer/name_parts.h"
#include "common/optimizer/newton_schulz.h"
#include "common/optimizer/optimizer.h"

namespace paceline {

template <typename T>
class FieldTable;

// The update of a matrix. Step scalars: Adam's, lr. Slot: m.
template <bool kNesterov>
struct MuonFormula {
  static constexpr int kSlotCount = 1;

  int64_t rows = 0;
  int64_t columns = 0;
  NewtonSchulz iteration = {};
  double momentum = 0;
  // rms_rate · sqrt(max(rows, columns)), or 1.
  double scale = 0;

  template <typename T>
  [[gnu::always_inline]] PACELINE_HOST_DEVICE T
  UpdateSlots(const StepScalars& /*step*/, T g, T* slots) const {
    T& m = slots[0];
    m += g + m * static_cast<T>(momentum - 1);
    if constexpr (kNesterov) return g + static_cast<T>(momentum) * m;
    return m;
  }

  template <typename T>
  [[gnu::always_inline]] PACELINE_HOST_DEVICE void Move(const StepScalars& step,
                                                        T factor, T& w) const {
    w -= static_cast<T>(step[1] * scale) * factor;
  }
};

class Muon final : public Optimizer {
 public:
  static constexpr char kClassName[] = "Muon";
  // Beside them that of Adam, which lists it.
  using Formula = std::variant<MuonFormula<false>, MuonFormula<true>>;
  static const FieldTable<Muon>& Fields();

  Muon() : Optimizer("muon", 0.001) { weight_decay = 0.004; }

  absl::string_view class_name() const override { return kClassName; }
  std::vector<std::string> formula_slot_names() const override;
  bool updates_by_variable() const override { return true; }
  AnyFormula FormulaFor(const UpdatedVariable& variable) const override;
  StepScalars ScalarsOf(const UpdateStep& step) const override;

  double adam_beta_1 = 0.9;
  double adam_beta_2 = 0.999;
  double epsilon = 1e-7;
  NameParts exclude_layers;
  double muon_a = NewtonSchulz().a;
  double muon_b = NewtonSchulz().b;
  double muon_c = NewtonSchulz().c;
  double adam_lr_ratio = 1;
  double momentum = 0.95;
  int64_t ns_steps = NewtonSchulz().steps;
  bool nesterov = true;
  bool exclude_embeddings = true;
  std::optional<double> adam_weight_decay = 0.004;
  std::optional<double> rms_rate = 0.2;

 private:
  std::optional<double> DecayOf(const UpdatedVariable& variable) const override;
  bool UsesAdam(const UpdatedVariable& variable) const;
  template <bool kNesterov>
  MuonFormula<kNesterov> MatrixFormula(const UpdatedVariable& variable) const;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_MUON_H_
