#include "common/keras/mask_operations.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/keras/config_keys.h"
#include "common/keras/keras_tensor.h"
#include "common/keras/not_supported.h"
#include "common/limits.h"

namespace paceline {
namespace {

// Classes whose calls have the argument `mask` in Keras, which it leaves out of
// calls with keywords. A Functional has it in these, too.
constexpr absl::string_view kWithMaskArgument[] = {"BatchNormalization",
                                                   "Bidirectional",
                                                   "GRU",
                                                   "GlobalAveragePooling1D",
                                                   "LSTM",
                                                   "Sequential",
                                                   "SimpleRNN",
                                                   "Softmax",
                                                   "TimeDistributed"};
// Far more than a model has, and soon done.
constexpr size_t kMaxVisits = 1'000'000;

// The calls of an entry; none if it has none.
const Value::List& CallsIn(const Value& entry) {
  static const auto& none = *new Value::List();
  const Value* const nodes =
      entry.is_map() ? entry.Find("inbound_nodes") : nullptr;
  return nodes != nullptr && nodes->is_list() ? nodes->as_list() : none;
}

// The arguments of a call by position; none if it has none.
const Value::List& ArgumentsIn(const Value& call) {
  static const auto& none = *new Value::List();
  const Value* const arguments = call.is_map() ? call.Find("args") : nullptr;
  return arguments != nullptr && arguments->is_list() ? arguments->as_list()
                                                      : none;
}

// The tensors among the arguments of an operation, and in lists of them.
std::vector<const Value*> TensorsIn(const Value::List& arguments) {
  std::vector<const Value*> tensors;
  for (const Value& argument : arguments) {
    if (IsTensor(argument)) tensors.push_back(&argument);
    if (!argument.is_list()) continue;
    for (const Value& each : argument.as_list()) {
      if (IsTensor(each)) tensors.push_back(&each);
    }
  }
  return tensors;
}

const Value* ConfigValue(const Value& entry, absl::string_view key) {
  const Value* const config = entry.Find("config");
  return config != nullptr && config->is_map() ? config->Find(key) : nullptr;
}

// The value that a layer masks; null if it masks none.
const Value* MaskedValueOf(const Value& layer) {
  static const auto& zero = *new Value(0);
  if (TextOf(layer, "class_name") == "Masking") {
    return ConfigValue(layer, "mask_value");
  }
  const Value* const mask_zero = ConfigValue(layer, "mask_zero");
  return TextOf(layer, "class_name") == "Embedding" && mask_zero != nullptr &&
                 *mask_zero == Value(true)
             ? &zero
             : nullptr;
}

bool AreSameTensor(const Value& a, const Value& b) {
  const absl::StatusOr<KerasHistory> of_a = HistoryOfTensor(a, Path());
  const absl::StatusOr<KerasHistory> of_b = HistoryOfTensor(b, Path());
  return of_a.ok() && of_b.ok() && of_a->layer == of_b->layer &&
         of_a->call == of_b->call && of_a->output == of_b->output;
}

bool AreSameTensors(const std::vector<const Value*>& a,
                    const std::vector<const Value*>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Value* left, const Value* right) {
                      return AreSameTensor(*left, *right);
                    });
}

bool IsOfClass(const Value& entry, absl::string_view class_name) {
  return TextOf(entry, "class_name") == class_name;
}

bool IsLastAxis(const Value* axis) {
  return axis != nullptr &&
         (*axis == Value(-1) || *axis == Value(Value::List{-1}));
}

bool IsAnyAlongLastAxis(const Value& operation) {
  const Value* const keepdims = ConfigValue(operation, "keepdims");
  return IsOfClass(operation, "Any") &&
         IsLastAxis(ConfigValue(operation, "axis")) &&
         (keepdims == nullptr || *keepdims == Value(false));
}

// The arguments of the only call of an operation.
const Value::List& ArgumentsOfOperation(const Value& operation) {
  return ArgumentsIn(CallsIn(operation)[0]);
}

// See CallMask::unmasked.
bool ReadsNoMask(const Value& entry, const Value& call) {
  if (IsOperation(entry)) return true;
  const bool has_argument =
      std::find(std::begin(kWithMaskArgument), std::end(kWithMaskArgument),
                TextOf(entry, "class_name")) != std::end(kWithMaskArgument);
  const Value::Map& keywords = KeywordsOf(call);
  return has_argument && !keywords.empty() &&
         std::none_of(keywords.begin(), keywords.end(),
                      [](const Value::Entry& keyword) {
                        return keyword.key == kMaskKeyword;
                      });
}

}  // namespace

absl::StatusOr<MaskOperations> MaskOperations::Read(const Value::List& layers,
                                                    const Path& path) {
  if (layers.size() > limits::kMaxLayers) {
    return ConfigError(
        path, absl::StrCat("has ", layers.size(), " entries, expected at most ",
                           limits::kMaxLayers));
  }
  MaskOperations masks(layers);
  for (size_t i = 0; i < layers.size(); ++i) {
    std::vector<CallMask>& of_layer = masks.masks_.emplace_back();
    const Value::List& calls = CallsIn(layers[i]);
    for (size_t k = 0; k < calls.size(); ++k) {
      ASSIGN_OR_RETURN(
          const std::set<std::string> of_call,
          masks.ReadCall(layers[i], calls[k],
                         path.Index(i).Key("inbound_nodes").Index(k)));
      of_layer.push_back(
          {{of_call.begin(), of_call.end()}, ReadsNoMask(layers[i], calls[k])});
    }
  }
  while (!masks.unread_.empty()) {
    const auto [call, mask] = masks.unread_.back();
    masks.unread_.pop_back();
    RETURN_IF_ERROR(masks.AddMakers(*mask, path, masks.of_concatenates_[call]));
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    for (size_t k = 0; k < masks.masks_[i].size(); ++k) {
      const auto found = masks.of_concatenates_.find(
          NameOfCall(TextOf(layers[i], "name"), static_cast<int>(k)));
      if (found == masks.of_concatenates_.end()) continue;
      masks.masks_[i][k].masked_by.assign(found->second.begin(),
                                          found->second.end());
    }
  }
  return masks;
}

MaskOperations::MaskOperations(const Value::List& layers) {
  for (const Value& layer : layers) {
    if (!layer.is_map()) continue;
    entries_.emplace(TextOf(layer, "name"), &layer);
    const bool is_concatenate =
        IsOfClass(layer, "Concatenate") && !IsOperation(layer);
    if (is_concatenate || MaskedValueOf(layer) != nullptr) {
      makers_of_masks_.push_back(&layer);
    }
  }
}

absl::StatusOr<std::set<std::string>> MaskOperations::ReadCall(
    const Value& layer, const Value& call, const Path& path) {
  std::set<std::string> makers;
  for (const Value::Entry& entry : KeywordsOf(call)) {
    const Path entry_path = path.Key("kwargs").Key(entry.key);
    const bool is_input =
        absl::EndsWith(entry.key, "_mask") ||
        (IsOfClass(layer, "Softmax") && entry.key == kMaskKeyword);
    if (is_input && IsTensor(entry.value) &&
        OperationOf(entry.value) != nullptr) {
      return NotSupported(entry_path,
                          "masks that operations such as not_equal compute "
                          "(give an Input or the output of a layer)");
    }
    if (entry.key != kMaskKeyword || (is_input && IsTensor(entry.value))) {
      continue;
    }
    // A model with several inputs has a list.
    const Value::List masks = entry.value.is_list() ? entry.value.as_list()
                                                    : Value::List{entry.value};
    for (const Value& mask : masks) {
      if (mask.is_null()) continue;
      if (!IsTensor(mask)) {
        return NotSupported(entry_path, "masks that are no tensors");
      }
      RETURN_IF_ERROR(AddMakers(mask, entry_path, makers));
    }
  }
  return makers;
}

// Without recursion, since chains of operations may be long.
absl::Status MaskOperations::AddMakers(const Value& tensor, const Path& path,
                                       std::set<std::string>& makers) {
  const absl::Status not_made = NotSupported(
      path, "masks that no Embedding, Masking or Concatenate makes");
  std::set<const Value*> seen;
  std::vector<const Value*> next = {&tensor};
  while (!next.empty()) {
    if (++visit_count_ > kMaxVisits) {
      return ConfigError(path, "has more operations than a model needs");
    }
    const Value* const operation = OperationOf(*next.back());
    next.pop_back();
    if (operation == nullptr) return not_made;
    if (!seen.insert(operation).second) continue;
    used_.insert(operation);
    if (IsOfClass(*operation, "LogicalOr")) {
      for (const Value* each : TensorsIn(ArgumentsOfOperation(*operation))) {
        next.push_back(each);
      }
      continue;
    }
    std::string maker = MakerOf(*operation);
    if (maker.empty()) return not_made;
    makers.insert(std::move(maker));
  }
  return makers.empty() ? not_made : absl::OkStatus();
}

std::string MaskOperations::MakerOf(const Value& operation) {
  if (IsOfClass(operation, "NotEqual")) {
    return MaskingCall("Embedding", operation);
  }
  const Value* const before =
      IsAnyAlongLastAxis(operation) ? OperationBefore(operation) : nullptr;
  if (before == nullptr) return "";
  used_.insert(before);
  if (IsOfClass(*before, "NotEqual")) return MaskingCall("Masking", *before);
  return IsOfClass(*before, "Concatenate") ? ConcatenateCall(*before) : "";
}

const Value* MaskOperations::OperationBefore(const Value& operation) const {
  const std::vector<const Value*> read =
      TensorsIn(ArgumentsOfOperation(operation));
  return read.size() == 1 ? OperationOf(*read[0]) : nullptr;
}

const Value* MaskOperations::OperationOf(const Value& tensor) const {
  const absl::StatusOr<KerasHistory> history = HistoryOfTensor(tensor, Path());
  if (!history.ok()) return nullptr;
  const auto found = entries_.find(history->layer);
  if (found == entries_.end() || !IsOperation(*found->second) ||
      CallsIn(*found->second).size() != 1) {
    return nullptr;
  }
  return found->second;
}

std::string MaskOperations::MaskingCall(absl::string_view class_name,
                                        const Value& operation) {
  const Value::List& arguments = ArgumentsOfOperation(operation);
  if (arguments.size() != 2 || !IsTensor(arguments[0])) return "";
  for (const Value* const layer : makers_of_masks_) {
    if (++visit_count_ > kMaxVisits) return "";
    const Value* const value = MaskedValueOf(*layer);
    if (!IsOfClass(*layer, class_name) || value == nullptr ||
        !value->is_number() || !arguments[1].is_number() ||
        value->as_double() != arguments[1].as_double()) {
      continue;
    }
    const std::string call = CallThatReads(*layer, {&arguments[0]});
    if (!call.empty()) return call;
  }
  return "";
}

std::string MaskOperations::ConcatenateCall(const Value& concatenation) {
  std::vector<Part> parts;
  std::vector<const Value*> inputs;
  for (const Value* each : TensorsIn(ArgumentsOfOperation(concatenation))) {
    parts.push_back(ReadPart(*each));
    inputs.push_back(parts.back().input);
    if (inputs.back() == nullptr) return "";
  }
  const Value* const axis = ConfigValue(concatenation, "axis");
  std::string call;
  for (const Value* const layer : makers_of_masks_) {
    if (++visit_count_ > kMaxVisits || !call.empty()) break;
    const Value* const of_layer = ConfigValue(*layer, "axis");
    if (IsOfClass(*layer, "Concatenate") && axis != nullptr &&
        of_layer != nullptr && *axis == *of_layer) {
      call = CallThatReads(*layer, inputs);
    }
  }
  if (call.empty() ||
      !of_concatenates_.emplace(call, std::set<std::string>()).second) {
    return call;
  }
  for (const Part& part : parts) {
    if (part.mask != nullptr) unread_.push_back({call, part.mask});
  }
  return call;
}

std::string MaskOperations::CallThatReads(
    const Value& layer, const std::vector<const Value*>& tensors) {
  const Value::List& calls = CallsIn(layer);
  for (size_t i = 0; i < calls.size() && visit_count_ <= kMaxVisits; ++i) {
    const std::vector<const Value*> read = TensorsIn(ArgumentsIn(calls[i]));
    visit_count_ += 1 + read.size();
    if (AreSameTensors(read, tensors)) {
      return NameOfCall(TextOf(layer, "name"), static_cast<int>(i));
    }
  }
  return "";
}

// Ones like the input, or its mask with an axis more, made as large as it:
// logical_or(expand_dims(mask), zeros_like(input)).
MaskOperations::Part MaskOperations::ReadPart(const Value& part) {
  ++visit_count_;
  const Value* const operation = OperationOf(part);
  if (operation == nullptr) return {};
  used_.insert(operation);
  const std::vector<const Value*> read =
      TensorsIn(ArgumentsOfOperation(*operation));
  if (IsOfClass(*operation, "OnesLike") && read.size() == 1) {
    return {.input = read[0]};
  }
  if (!IsOfClass(*operation, "LogicalOr") || read.size() != 2) return {};
  const Value* const expanded = OperationOf(*read[0]);
  const Value* const zeros = OperationOf(*read[1]);
  if (expanded == nullptr || zeros == nullptr ||
      !IsOfClass(*expanded, "ExpandDims") || !IsOfClass(*zeros, "ZerosLike") ||
      !IsLastAxis(ConfigValue(*expanded, "axis"))) {
    return {};
  }
  used_.insert(expanded);
  used_.insert(zeros);
  const std::vector<const Value*> masks =
      TensorsIn(ArgumentsOfOperation(*expanded));
  const std::vector<const Value*> inputs =
      TensorsIn(ArgumentsOfOperation(*zeros));
  if (masks.size() != 1 || inputs.size() != 1) return {};
  return {.input = inputs[0], .mask = masks[0]};
}

}  // namespace paceline
