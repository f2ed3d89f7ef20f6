// Muon (Jordan et al., 2024; Liu et al., 2025), as keras.optimizers.Muon
// computes it. Of a variable with two axes:
//
//   w -= lr · weight_decay · w
//   m = momentum · m + g
//   d = g + momentum · m                 (without `nesterov`: d = m)
//   w -= lr · rms_rate · sqrt(max(rows, columns)) · Orthogonalize(d)
//
// (newton_schulz.h; without rms_rate both its factors are left out.) Other
// variables, and those that `exclude_layers` and `exclude_embeddings` take out,
// go by Adam (adam.h) with lr · adam_lr_ratio, behind a decay by lr ·
// adam_weight_decay.
#ifndef PACELINE_COMMON_OPTIMIZER_MUON_H_
#define PACELINE_COMMON_OPTIMIZER_MUON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/base/host_device.h"
#include "common/optimizer/adam.h"
#include "common/optimizer/formula.h"
#include "common/optimizer/newton_schulz.h"
#include "common/optimizer/optimizer.h"
#include "common/optimizer/weight_decay.h"

namespace paceline {

class Path;
class Value;
template <typename T>
class FieldTable;

// Of a matrix. Of each step: Adam's step size (not read here), and lr as scalar
// 1. Slots: m, and v, which only Adam changes.
template <bool kNesterov>
struct MuonFormula {
  static constexpr int kSlotCount = 2;

  int64_t rows = 0;
  int64_t columns = 0;
  NewtonSchulz iteration = {};
  double momentum = 0;
  double decay = 0;
  // By what lr is multiplied.
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
    DecayWeight(step, decay, w);
    w -= static_cast<T>(step[1] * scale) * factor;
  }
};

// A part of the names of variables.
struct NamePart {
  std::string text;
};

// A string that is not empty. Keras takes regular expressions; of those only
// strings of letters, digits, "_", "-" and "/" are read. See codec.h.
absl::Status ReadConfig(const Value& value, const Path& path, NamePart& out);
Value WriteConfig(const NamePart& part);
std::string ConfigType(const NamePart*);

class Muon final : public Optimizer {
 public:
  static constexpr char kClassName[] = "Muon";
  using Formula = std::variant<MuonFormula<false>, MuonFormula<true>,
                               Decayed<AdamFormula<false>>>;
  static const FieldTable<Muon>& Fields();

  Muon() : Optimizer("muon", 0.001) {}

  absl::string_view class_name() const override { return kClassName; }
  std::vector<std::string> slot_names() const override;
  // Of matrices.
  AnyFormula formula() const override;
  AnyFormula FormulaFor(const UpdatedVariable& variable) const override;
  StepScalars ScalarsOf(const UpdateStep& step) const override;

  std::optional<double> weight_decay = 0.004;
  double adam_beta_1 = 0.9;
  double adam_beta_2 = 0.999;
  double epsilon = 1e-7;
  std::vector<NamePart> exclude_layers;
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
  bool IsForAdam(const UpdatedVariable& variable) const;
  // Without rows and columns for a variable without axes.
  template <bool kNesterov>
  MuonFormula<kNesterov> MatrixFormula(const UpdatedVariable& variable) const;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_OPTIMIZER_MUON_H_
