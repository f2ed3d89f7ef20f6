#include "common/keras/mask_operations.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/keras/config_keys.h"
#include "common/keras/keras_tensor.h"
#include "common/keras/not_supported.h"

namespace paceline {
namespace {

constexpr absl::string_view kMaskKeywords[] = {"mask", "query_mask",
                                               "value_mask", "key_mask"};
// What Keras computes masks from others with.
constexpr absl::string_view kOfMasks[] = {"Any", "Concatenate", "ExpandDims",
                                          "LogicalOr"};
// Of no mask: they give the shape of a layer's output.
constexpr absl::string_view kOfShapes[] = {"OnesLike", "ZerosLike"};

template <size_t size>
bool IsOneOf(absl::string_view name, const absl::string_view (&names)[size]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

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

// The value that a layer masks; null if it masks none.
const Value* MaskedValueOf(const Value& layer) {
  static const auto& zero = *new Value(0);
  const Value* const config = layer.Find("config");
  if (config == nullptr || !config->is_map()) return nullptr;
  const std::string class_name = TextOf(layer, "class_name");
  if (class_name == "Masking") return config->Find("mask_value");
  const Value* const mask_zero = config->Find("mask_zero");
  return class_name == "Embedding" && mask_zero != nullptr &&
                 *mask_zero == Value(true)
             ? &zero
             : nullptr;
}

bool AreSameTensor(const Value& a, const Value& b) {
  const absl::StatusOr<KerasHistory> of_a = HistoryOfTensor(a, Path());
  const absl::StatusOr<KerasHistory> of_b = HistoryOfTensor(b, Path());
  return of_a.ok() && of_b.ok() && of_a->layer == of_b->layer &&
         of_a->call == of_b->call;
}

}  // namespace

bool IsMaskKeyword(absl::string_view keyword) {
  return IsOneOf(keyword, kMaskKeywords);
}

absl::StatusOr<MaskOperations> MaskOperations::Read(const Value::List& layers,
                                                    const Path& path) {
  MaskOperations masks(layers);
  for (size_t i = 0; i < layers.size(); ++i) {
    std::vector<std::vector<std::string>>& makers =
        masks.makers_.emplace_back();
    const Value::List& calls = CallsIn(layers[i]);
    for (size_t k = 0; k < calls.size(); ++k) {
      ASSIGN_OR_RETURN(
          const std::set<std::string> of_call,
          masks.ReadCall(calls[k],
                         path.Index(i).Key("inbound_nodes").Index(k)));
      makers.emplace_back(of_call.begin(), of_call.end());
    }
  }
  return masks;
}

MaskOperations::MaskOperations(const Value::List& layers) {
  for (const Value& layer : layers) {
    if (!layer.is_map()) continue;
    entries_.emplace(TextOf(layer, "name"), &layer);
    if (MaskedValueOf(layer) != nullptr) masking_layers_.push_back(&layer);
  }
}

absl::StatusOr<std::set<std::string>> MaskOperations::ReadCall(
    const Value& call, const Path& path) {
  std::set<std::string> makers;
  const Value* const keywords = call.is_map() ? call.Find("kwargs") : nullptr;
  if (keywords == nullptr || !keywords->is_map()) return makers;
  for (const Value::Entry& entry : keywords->as_map()) {
    if (!IsMaskKeyword(entry.key)) continue;
    const Path entry_path = path.Key("kwargs").Key(entry.key);
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
  const absl::Status not_made =
      NotSupported(path, "masks that no Embedding or Masking makes");
  std::set<const Value*> seen;
  std::vector<const Value*> next = {&tensor};
  while (!next.empty()) {
    ASSIGN_OR_RETURN(const KerasHistory history,
                     HistoryOfTensor(*next.back(), path));
    next.pop_back();
    const auto found = entries_.find(history.layer);
    const std::string class_name =
        found == entries_.end() ? "" : TextOf(*found->second, "class_name");
    const bool is_made = class_name == "NotEqual";
    if (found == entries_.end() || !IsOperation(*found->second) ||
        CallsIn(*found->second).size() != 1 ||
        (!is_made && !IsOneOf(class_name, kOfMasks) &&
         !IsOneOf(class_name, kOfShapes))) {
      return not_made;
    }
    const Value& operation = *found->second;
    if (!seen.insert(&operation).second) continue;
    used_.insert(&operation);
    if (is_made) {
      ASSIGN_OR_RETURN(std::string maker, MakerOf(operation, path));
      makers.insert(std::move(maker));
    } else if (IsOneOf(class_name, kOfMasks)) {
      for (const Value* each : TensorsIn(ArgumentsIn(CallsIn(operation)[0]))) {
        next.push_back(each);
      }
    }
  }
  return makers.empty() ? not_made : absl::OkStatus();
}

absl::StatusOr<std::string> MaskOperations::MakerOf(const Value& operation,
                                                    const Path& path) const {
  const Value::List& arguments = ArgumentsIn(CallsIn(operation)[0]);
  for (const Value* const layer : masking_layers_) {
    if (arguments.size() != 2 || !IsTensor(arguments[0])) break;
    const Value& value = *MaskedValueOf(*layer);
    if (!value.is_number() || !arguments[1].is_number() ||
        value.as_double() != arguments[1].as_double()) {
      continue;
    }
    const Value::List& calls = CallsIn(*layer);
    for (size_t i = 0; i < calls.size(); ++i) {
      const Value::List& of_layer = ArgumentsIn(calls[i]);
      if (of_layer.empty() || !IsTensor(of_layer[0]) ||
          !AreSameTensor(of_layer[0], arguments[0])) {
        continue;
      }
      return NameOfCall(TextOf(*layer, "name"), static_cast<int>(i));
    }
  }
  return NotSupported(
      path, absl::StrCat("masks such as \"", TextOf(operation, "name"),
                         "\", which no Embedding or Masking makes,"));
}

}  // namespace paceline
