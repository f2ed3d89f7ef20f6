#include "common/operations/rewrites/fuse_rectifiers.h"

#include <memory>
#include <optional>
#include <vector>

#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/map.h"
#include "common/operations/pooling.h"

namespace paceline::op {
namespace {

class RectifierFusion {
 public:
  RectifierFusion(const Function& from, HasOperation has)
      : from_(from),
        has_(has),
        makers_(from.tensor_count(), nullptr),
        readers_(from.tensor_count()) {
    for (const Call& call : from.calls()) {
      for (const int input : call.inputs) readers_[input].push_back(&call);
      for (const int output : call.outputs) makers_[output] = &call;
    }
    for (const int result : from.results()) readers_[result].push_back(nullptr);
  }

  std::unique_ptr<Function> Run() && {
    for (const Call& call : from_.calls()) {
      const auto* const map = As<MapOperation>(&call);
      if (map != nullptr && map->function() == MapFunction::kRelu) Fuse(call);
    }
    return ReplaceCalls(from_, fused_);
  }

 private:
  // The readers of a rectified tensor, at most one of each kind. Null: none.
  struct Readers {
    const Call* pooling = nullptr;
    const Call* pooling_gradient = nullptr;
    const Call* other = nullptr;

    bool has_backward() const {
      return pooling_gradient != nullptr || other != nullptr;
    }
  };

  // Records replacements for the pooling of a rectified tensor, and for the
  // gradient through both.
  void Fuse(const Call& relu) {
    const int x = relu.inputs[0];
    const int rectified = relu.outputs[0];
    const std::optional<Readers> readers = ReadersOf(rectified);
    if (!readers || readers->pooling == nullptr) return;
    const Call* const pooling = readers->pooling;
    const Call* const product = ProductOf(rectified, *readers);
    if (readers->has_backward() && product == nullptr) return;

    const Window2D& window = As<MaxPoolingOperation>(pooling)->window();
    const auto forward =
        std::make_shared<const MaxPoolingOperation>(window, /*rectifies=*/true);
    const auto backward = std::make_shared<const MaxPoolingGradientOperation>(
        window, /*rectifies=*/true);
    if (!Has(*forward, *pooling)) return;
    if (product != nullptr && !Has(*backward, *readers->pooling_gradient)) {
      return;
    }
    fused_[pooling] = Call{forward, {x}, pooling->outputs, pooling->owner};
    if (product == nullptr) return;
    std::vector<int> inputs = readers->pooling_gradient->inputs;
    inputs[0] = x;
    fused_[product] = Call{backward, inputs, product->outputs, product->owner};
  }

  // nullopt if there are other readers, or the tensor is a result.
  std::optional<Readers> ReadersOf(int rectified) const {
    Readers readers;
    for (const Call* reader : readers_[rectified]) {
      const Call** found = &readers.other;
      if (As<MaxPoolingOperation>(reader)) found = &readers.pooling;
      if (As<MaxPoolingGradientOperation>(reader)) {
        found = &readers.pooling_gradient;
      }
      if (reader == nullptr || *found != nullptr) return std::nullopt;
      *found = reader;
    }
    return readers;
  }

  // The gradient before the rectifier: the pooling's gradient times the
  // rectifier's derivative, Cast(0 < rectified). Null if the readers are not
  // exactly these.
  const Call* ProductOf(int rectified, const Readers& readers) const {
    const Call* const gradient = readers.pooling_gradient;
    const auto* const compare = As<CompareOperation>(readers.other);
    if (gradient == nullptr || gradient->inputs[0] != rectified ||
        gradient->inputs[1] != readers.pooling->outputs[0] ||
        compare == nullptr || compare->comparison() != Comparison::kLess ||
        !IsZero(readers.other->inputs[0])) {
      return nullptr;
    }
    const Call* const cast = OnlyReader(readers.other->outputs[0]);
    if (As<CastOperation>(cast) == nullptr) return nullptr;
    const Call* const product = OnlyReader(cast->outputs[0]);
    const auto* const map = As<BinaryMapOperation>(product);
    return map != nullptr && map->function() == BinaryFunction::kMultiply &&
                   product == OnlyReader(gradient->outputs[0])
               ? product
               : nullptr;
  }

  // Whether the device has the operation for the inputs of the call.
  bool Has(const Operation& operation, const Call& call) const {
    return has_(operation, from_.TypesOf(call.inputs));
  }

  bool IsZero(int tensor) const {
    const auto* const constant = As<ConstantOperation>(makers_[tensor]);
    return constant != nullptr && constant->values() == std::vector<double>{0};
  }

  // The only reader of a tensor; null if there are several, or it is a result.
  const Call* OnlyReader(int tensor) const {
    return readers_[tensor].size() == 1 ? readers_[tensor][0] : nullptr;
  }

  const Function& from_;
  const HasOperation has_;
  // By tensor: the call that computes it; null for parameters.
  std::vector<const Call*> makers_;
  // By tensor; null stands for the caller, who reads results.
  std::vector<std::vector<const Call*>> readers_;
  Replacements fused_;
};

}  // namespace

std::unique_ptr<Function> FuseRectifiers(const Function& function,
                                         HasOperation has) {
  return RectifierFusion(function, has).Run();
}

}  // namespace paceline::op
