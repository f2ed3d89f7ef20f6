#include "common/optimizer/sgd.h"

#include "common/base/simd.h"
#include "common/optimizer/base_fields.h"

namespace paceline {

// What one update needs, for one range. `m` is null without momentum.
template <typename T>
struct SgdUpdate {
  int64_t count;
  T* w;
  const T* g;
  T* m;
  T learning_rate;
  T momentum;
};

namespace {

enum class Kind { kPlain, kMomentum, kNesterov };

template <Kind kKind, typename T>
inline __attribute__((always_inline)) void RunLoop(const SgdUpdate<T>& update) {
  // A copy, so that the compiler knows that no store changes it.
  const SgdUpdate<T> u = update;
#pragma omp simd
  for (int64_t i = 0; i < u.count; ++i) {
    const T step = u.learning_rate * u.g[i];
    if constexpr (kKind == Kind::kPlain) {
      u.w[i] -= step;
    } else {
      const T velocity = u.momentum * u.m[i] - step;
      u.m[i] = velocity;
      u.w[i] +=
          kKind == Kind::kNesterov ? u.momentum * velocity - step : velocity;
    }
  }
}

}  // namespace

PACELINE_MULTIVERSION
void RunSgd(const SgdUpdate<float>& update) { RunLoop<Kind::kPlain>(update); }
PACELINE_MULTIVERSION
void RunMomentum(const SgdUpdate<float>& update) {
  RunLoop<Kind::kMomentum>(update);
}
PACELINE_MULTIVERSION
void RunNesterov(const SgdUpdate<float>& update) {
  RunLoop<Kind::kNesterov>(update);
}
void RunSgd(const SgdUpdate<double>& update) { RunLoop<Kind::kPlain>(update); }
void RunMomentum(const SgdUpdate<double>& update) {
  RunLoop<Kind::kMomentum>(update);
}
void RunNesterov(const SgdUpdate<double>& update) {
  RunLoop<Kind::kNesterov>(update);
}

namespace {

template <typename T>
void ApplySgd(const Sgd& sgd, int64_t iterations, const UpdateRange<T>& range) {
  const SgdUpdate<T> update{static_cast<int64_t>(range.values.size()),
                            range.values.data(),
                            range.gradients.data(),
                            sgd.momentum == 0 ? nullptr : range.slots[0].data(),
                            static_cast<T>(sgd.LearningRate(iterations)),
                            static_cast<T>(sgd.momentum)};
  if (sgd.momentum == 0) {
    RunSgd(update);
  } else if (sgd.nesterov) {
    RunNesterov(update);
  } else {
    RunMomentum(update);
  }
}

}  // namespace

const FieldTable<Sgd>& Sgd::Fields() {
  static const auto& table = *new FieldTable<Sgd>(
      "SGD", "Stochastic gradient descent, with momentum if asked for.",
      WithBaseFields<Sgd>({
          Optional("momentum", &Sgd::momentum, Between(0, 1),
                   "Share of the last update that is added to the next."),
          Optional("nesterov", &Sgd::nesterov,
                   "Whether the momentum looks ahead."),
      }));
  return table;
}

std::vector<std::string> Sgd::slot_names() const {
  if (momentum == 0) return {};
  return {"momentum"};
}

double Sgd::LearningRate(int64_t iterations) const {
  return learning_rate.At(iterations);
}

void Sgd::Apply(int64_t iterations, UpdateRange<float> range) const {
  ApplySgd(*this, iterations, range);
}

void Sgd::Apply(int64_t iterations, UpdateRange<double> range) const {
  ApplySgd(*this, iterations, range);
}

}  // namespace paceline
