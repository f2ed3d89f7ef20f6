#include "common/optimizer/muon.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "common/config/field_table.h"
#include "common/optimizer/base_fields.h"
#include "common/optimizer/optimizers.h"

namespace paceline {
namespace {

// More steps do not help: a singular value that is far from 1 after so many
// stays there.
constexpr int kMaxSteps = 100;

// Keras writes the default, 1, as an integer.
std::optional<Value> WriteRatio(const Muon& muon) {
  return muon.adam_lr_ratio == 1 ? Value(1) : Value(muon.adam_lr_ratio);
}

// Whether `name` contains `part`, ignoring case. `part` must be lower case.
bool HasPart(absl::string_view name, absl::string_view part) {
  return std::search(name.begin(), name.end(), part.begin(), part.end(),
                     [](char a, char b) {
                       return absl::ascii_tolower(a) == b;
                     }) != name.end();
}

}  // namespace

const FieldTable<Muon>& Muon::Fields() {
  static const auto& table = *new FieldTable<Muon>(
      kClassName,
      "Muon: moves a matrix by the orthogonal factor of its momentum. Adam "
      "updates all other variables.",
      WithBaseFields<Muon>({
          Optional("adam_beta_1", &Muon::adam_beta_1, Within(0, 1),
                   "Adam's decay of the mean of the gradients."),
          Optional("adam_beta_2", &Muon::adam_beta_2, Within(0, 1),
                   "Adam's decay of the mean of their squares."),
          Optional("epsilon", &Muon::epsilon, AtLeast(0),
                   "Keeps Adam's divisor from zero."),
          Optional("exclude_layers", &Muon::exclude_layers,
                   "Adam updates variables that have one of these strings "
                   "in their name, \"<layer>/<variable>\". Patterns are "
                   "not supported yet."),
          Optional("muon_a", &Muon::muon_a,
                   "Coefficient of X in each step of the iteration."),
          Optional("muon_b", &Muon::muon_b, "Coefficient of X·Xᵀ·X."),
          Optional("muon_c", &Muon::muon_c, "Coefficient of (X·Xᵀ)²·X."),
          WrittenAs(WriteRatio,
                    Optional("adam_lr_ratio", &Muon::adam_lr_ratio, AtLeast(0),
                             "Adam's learning rate, as a share of "
                             "learning_rate.")),
          Optional("momentum", &Muon::momentum, Between(0, 1),
                   "Decay of the momentum of matrices."),
          Optional("ns_steps", &Muon::ns_steps, Between(0, kMaxSteps),
                   "Steps of the iteration."),
          Optional("nesterov", &Muon::nesterov,
                   "Whether the momentum is Nesterov's."),
          Optional("exclude_embeddings", &Muon::exclude_embeddings,
                   "Whether Adam updates variables that have \"embedding\" "
                   "in their name."),
          Optional("adam_weight_decay", &Muon::adam_weight_decay, AtLeast(0),
                   "The weight_decay of variables that Adam updates."),
          Optional("rms_rate", &Muon::rms_rate, AtLeast(0),
                   "Scales the update of a matrix by rms_rate · "
                   "sqrt(max(rows, columns)); null: no scaling."),
      }));
  return table;
}

std::vector<std::string> Muon::formula_slot_names() const {
  return {"momentum", "velocity"};
}

bool Muon::UsesAdam(const UpdatedVariable& variable) const {
  if (variable.shape.size() != 2) return true;
  if (exclude_embeddings && HasPart(variable.name, "embedding")) return true;
  return exclude_layers.SelectsName(variable.name);
}

template <bool kNesterov>
MuonFormula<kNesterov> Muon::MatrixFormula(
    const UpdatedVariable& variable) const {
  MuonFormula<kNesterov> formula;
  formula.iteration = {muon_a, muon_b, muon_c, ns_steps};
  formula.momentum = momentum;
  formula.rows = variable.shape[0];
  formula.columns = variable.shape[1];
  const auto longer =
      static_cast<double>(std::max(formula.rows, formula.columns));
  formula.scale = rms_rate ? *rms_rate * std::sqrt(longer) : 1;
  return formula;
}

AnyFormula Muon::FormulaFor(const UpdatedVariable& variable) const {
  if (UsesAdam(variable)) {
    return AdamFormula<false>{.one_minus_beta_1 = 1 - adam_beta_1,
                              .one_minus_beta_2 = 1 - adam_beta_2,
                              .epsilon = epsilon};
  }
  if (nesterov) return MatrixFormula<true>(variable);
  return MatrixFormula<false>(variable);
}

std::optional<double> Muon::DecayOf(const UpdatedVariable& variable) const {
  return UsesAdam(variable) ? adam_weight_decay : weight_decay;
}

StepScalars Muon::ScalarsOf(const UpdateStep& step) const {
  return {{adam_lr_ratio * AdamStepSize(step, adam_beta_1, adam_beta_2),
           step.learning_rate}};
}

}  // namespace paceline
