#include "common/operations/rewrites/fuse_maps.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/operations/binary_map.h"
#include "common/operations/broadcast.h"
#include "common/operations/cast.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/elementwise.h"
#include "common/operations/map.h"
#include "common/operations/select.h"
#include "common/operations/stop_gradient.h"
#include "glog/logging.h"

namespace paceline::op {
namespace {

ElementFunction FunctionOf(MapFunction function) {
  switch (function) {
    case MapFunction::kAbs:
      return ElementFunction::kAbs;
    case MapFunction::kSign:
      return ElementFunction::kSign;
    case MapFunction::kFloor:
      return ElementFunction::kFloor;
    case MapFunction::kExp:
      return ElementFunction::kExp;
    case MapFunction::kExpm1:
      return ElementFunction::kExpm1;
    case MapFunction::kLog:
      return ElementFunction::kLog;
    case MapFunction::kLog1p:
      return ElementFunction::kLog1p;
    case MapFunction::kSqrt:
      return ElementFunction::kSqrt;
    case MapFunction::kTanh:
      return ElementFunction::kTanh;
    case MapFunction::kSigmoid:
      return ElementFunction::kSigmoid;
    case MapFunction::kSoftplus:
      return ElementFunction::kSoftplus;
    case MapFunction::kErfc:
      return ElementFunction::kErfc;
    case MapFunction::kRelu:
      return ElementFunction::kRelu;
  }
  LOG(FATAL) << static_cast<int>(function);
}

ElementFunction FunctionOf(BinaryFunction function) {
  switch (function) {
    case BinaryFunction::kAdd:
      return ElementFunction::kAdd;
    case BinaryFunction::kSubtract:
      return ElementFunction::kSubtract;
    case BinaryFunction::kMultiply:
      return ElementFunction::kMultiply;
    case BinaryFunction::kDivide:
      return ElementFunction::kDivide;
    case BinaryFunction::kPower:
      return ElementFunction::kPower;
    case BinaryFunction::kMaximum:
      return ElementFunction::kMaximum;
    case BinaryFunction::kMinimum:
      return ElementFunction::kMinimum;
  }
  LOG(FATAL) << static_cast<int>(function);
}

ElementFunction FunctionOf(Comparison comparison) {
  switch (comparison) {
    case Comparison::kLess:
      return ElementFunction::kLess;
    case Comparison::kLessEqual:
      return ElementFunction::kLessEqual;
    case Comparison::kEqual:
      return ElementFunction::kEqual;
  }
  LOG(FATAL) << static_cast<int>(comparison);
}

// nullopt if the operation is not elementwise.
std::optional<ElementFunction> FunctionOf(const Operation& operation) {
  if (operation.name() == MapOperation::kName) {
    return FunctionOf(static_cast<const MapOperation&>(operation).function());
  }
  if (operation.name() == BinaryMapOperation::kName) {
    return FunctionOf(
        static_cast<const BinaryMapOperation&>(operation).function());
  }
  if (operation.name() == CompareOperation::kName) {
    return FunctionOf(
        static_cast<const CompareOperation&>(operation).comparison());
  }
  if (operation.name() == SelectOperation::kName) {
    return ElementFunction::kSelect;
  }
  return std::nullopt;
}

class MapFusion {
 public:
  explicit MapFusion(const Function& from)
      : from_(from),
        to_(std::make_unique<Function>()),
        copier_(from, *to_),
        makers_(from.tensor_count(), nullptr),
        is_in_memory_(from.tensor_count(), false) {
    for (const Call& call : from.calls()) {
      for (const int output : call.outputs) makers_[output] = &call;
    }
  }

  std::unique_ptr<Function> Run() && {
    for (const int parameter : from_.parameters()) {
      copier_.Map(parameter, to_->AddParameter(from_.type(parameter)));
    }
    for (const int result : from_.results()) is_in_memory_[result] = true;
    // If a call puts a tensor in memory, a chain of a call that was visited
    // before may get one input more, and so become too long. So repeat until
    // nothing changes: then no chain is too long, and its inputs are in memory.
    // This ends, since tensors are only added to memory.
    while (has_changed_) {
      has_changed_ = false;
      // Backwards, since readers decide which tensors must be in memory before
      // the calls that compute these are visited.
      for (size_t i = from_.calls().size(); i-- > 0;) Place(from_.calls()[i]);
    }
    for (const Call& call : from_.calls()) {
      if (IsInMemory(call)) Add(call);
    }
    for (const int result : from_.results()) {
      to_->AddResult(copier_.CopyOf(result));
    }
    return std::move(to_);
  }

 private:
  // An Elementwise under construction.
  struct Chain {
    std::vector<ElementInstruction> instructions;
    // The input tensors, which are in memory. During construction input i is
    // value -1 - i, and instruction i is value i.
    std::vector<int> inputs;
    // By tensor: its value, if it has one already.
    std::map<int, int> values;
    bool is_too_long = false;
  };

  bool IsInMemory(const Call& call) const {
    return std::any_of(call.outputs.begin(), call.outputs.end(),
                       [this](int output) { return is_in_memory_[output]; });
  }

  bool IsRealOrBool(int tensor) const {
    const DataType type = from_.type(tensor).type;
    return IsReal(type) || type == DataType::kBool;
  }
  const Shape& ShapeOf(int tensor) const { return from_.type(tensor).shape; }

  // Whether the call only passes its input on: a change of shape or type does
  // not matter to the instructions.
  bool PassesOn(const Call& call) const {
    const absl::string_view name = call.operation->name();
    if (name == CastOperation::kName) {
      const DataType from = from_.type(call.inputs[0]).type;
      return (from == DataType::kInt32 || from == DataType::kBool) &&
             IsReal(from_.type(call.outputs[0]).type);
    }
    return (name == BroadcastOperation::kName ||
            name == StopGradientOperation::kName) &&
           IsRealOrBool(call.inputs[0]);
  }

  bool IsNumber(const Call& call) const {
    return call.operation->name() == ConstantOperation::kName &&
           IsRealOrBool(call.outputs[0]) &&
           NumElements(ShapeOf(call.outputs[0])) == 1;
  }

  bool IsMap(const Call& call) const {
    return FunctionOf(*call.operation).has_value() &&
           IsRealOrBool(call.outputs[0]) &&
           std::all_of(call.inputs.begin(), call.inputs.end(),
                       [this](int input) { return IsRealOrBool(input); });
  }

  // Whether the call's output, which must be in memory, can be computed by a
  // chain.
  bool CanEndChain(const Call& call) const {
    return (IsMap(call) || PassesOn(call)) &&
           IsReal(from_.type(call.outputs[0]).type);
  }

  // Decides which inputs of the call must be in memory.
  void Place(const Call& call) {
    if (!IsInMemory(call)) return;
    if (!CanEndChain(call)) {
      for (const int input : call.inputs) PutInMemory(input);
      return;
    }
    Chain chain = ChainOf(call);
    while (chain.is_too_long) {
      PutInMemory(LongestInput(call));
      chain = ChainOf(call);
    }
    for (const int input : chain.inputs) PutInMemory(input);
  }

  void PutInMemory(int tensor) {
    has_changed_ = has_changed_ || !is_in_memory_[tensor];
    is_in_memory_[tensor] = true;
  }

  struct LongestChain {
    int tensor = -1;
    size_t length = 0;
  };

  // Of the floating-point inputs that are not in memory, the one with the
  // longest chain. A condition cannot be in memory, so considers the inputs of
  // the call that computes it instead.
  int LongestInput(const Call& call) const {
    LongestChain longest;
    FindLongestInput(call, longest);
    CHECK_GE(longest.tensor, 0) << call.operation->name();
    return longest.tensor;
  }

  void FindLongestInput(const Call& call, LongestChain& longest) const {
    for (const int input : call.inputs) {
      if (is_in_memory_[input] || !IsComputed(input)) continue;
      const Call& maker = *makers_[input];
      if (!IsReal(from_.type(input).type)) {
        FindLongestInput(maker, longest);
        continue;
      }
      const size_t length = ChainOf(maker).instructions.size();
      if (longest.tensor < 0 || length > longest.length) {
        longest = {input, length};
      }
    }
  }

  // Whether instructions can compute the tensor.
  bool IsComputed(int tensor) const {
    const Call* const maker = makers_[tensor];
    return maker != nullptr &&
           (IsMap(*maker) || PassesOn(*maker) || IsNumber(*maker));
  }

  Chain ChainOf(const Call& end) const {
    Chain chain;
    AddInstructions(end, chain);
    if (chain.inputs.size() > ElementwiseOperation::kMaxInputs ||
        chain.instructions.size() > ElementwiseOperation::kMaxInstructions) {
      chain.is_too_long = true;
    }
    return chain;
  }

  // Adds instructions for the call; returns the number of its output's value.
  int AddInstructions(const Call& call, Chain& chain) const {
    // Stop: the chain is certainly too long.
    if (chain.instructions.size() > ElementwiseOperation::kMaxInstructions) {
      return 0;
    }
    const Shape& shape = ShapeOf(call.outputs[0]);
    if (PassesOn(call)) return ValueOf(call.inputs[0], shape, chain);
    ElementInstruction instruction;
    if (IsNumber(call)) {
      instruction.constant =
          static_cast<const ConstantOperation&>(*call.operation).values()[0];
    } else {
      instruction.function = *FunctionOf(*call.operation);
      int* const operands[] = {&instruction.a, &instruction.b, &instruction.c};
      for (size_t i = 0; i < call.inputs.size(); ++i) {
        *operands[i] = ValueOf(call.inputs[i], shape, chain);
      }
    }
    chain.instructions.push_back(instruction);
    return static_cast<int>(chain.instructions.size()) - 1;
  }

  // The number of the value of a tensor that an operation of `shape` reads.
  int ValueOf(int tensor, const Shape& shape, Chain& chain) const {
    if (const auto it = chain.values.find(tensor); it != chain.values.end()) {
      return it->second;
    }
    int value = 0;
    if (IsReadFromMemory(tensor, shape)) {
      chain.inputs.push_back(tensor);
      value = -static_cast<int>(chain.inputs.size());
    } else {
      value = AddInstructions(*makers_[tensor], chain);
    }
    chain.values[tensor] = value;
    return value;
  }

  bool IsReadFromMemory(int tensor, const Shape& shape) const {
    if (!IsComputed(tensor)) return true;
    const Call& maker = *makers_[tensor];
    if (IsNumber(maker)) return false;
    if (is_in_memory_[tensor]) return true;
    return IsMap(maker) && IsReal(from_.type(tensor).type) &&
           ShapeOf(tensor) != shape;
  }

  void Add(const Call& call) {
    if (!CanEndChain(call)) {
      copier_.Copy(call);
      return;
    }
    Chain chain = ChainOf(call);
    const int input_count = static_cast<int>(chain.inputs.size());
    for (ElementInstruction& each : chain.instructions) {
      int* const operands[] = {&each.a, &each.b, &each.c};
      for (int i = 0; i < OperandCount(each.function); ++i) {
        int& operand = *operands[i];
        operand = operand < 0 ? -1 - operand : input_count + operand;
      }
    }
    std::vector<Tensor> inputs;
    for (const int input : chain.inputs) {
      inputs.push_back(copier_.CopyOf(input));
    }
    to_->SetOwner(call.owner);
    copier_.Map(call.outputs[0],
                to_->AddCall(std::make_shared<const ElementwiseOperation>(
                                 from_.type(call.outputs[0]),
                                 std::move(chain.instructions)),
                             inputs)[0]);
  }

  const Function& from_;
  std::unique_ptr<Function> to_;
  CallCopier copier_;
  // By tensor: the call that computes it; null for parameters.
  std::vector<const Call*> makers_;
  // By tensor. Once true it stays true.
  std::vector<bool> is_in_memory_;
  bool has_changed_ = true;
};

}  // namespace

std::unique_ptr<Function> FuseMaps(const Function& function) {
  return MapFusion(function).Run();
}

}  // namespace paceline::op
