#include "common/keras/functional_inputs.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/config/codec.h"
#include "common/keras/config_keys.h"
#include "common/keras/keras_tensor.h"
#include "common/keras/mask_operations.h"
#include "common/keras/not_supported.h"
#include "common/model/keras_operator.h"

namespace paceline {
namespace {

// Arguments nest as lists of tensors; Keras' deepest have two levels.
constexpr int kMaxArgumentNesting = 8;

absl::StatusOr<std::string> ReadTensorName(const Value& tensor,
                                           const Path& path) {
  ASSIGN_OR_RETURN(const KerasHistory history, HistoryOfTensor(tensor, path));
  return NameOfTensor(history);
}

absl::Status AddTensors(const Value& argument, const Path& path, int nesting,
                        std::vector<std::string>& names) {
  if (nesting > kMaxArgumentNesting) {
    return ConfigError(path, absl::StrCat("is nested deeper than ",
                                          kMaxArgumentNesting, " lists"));
  }
  if (IsTensor(argument)) {
    ASSIGN_OR_RETURN(names.emplace_back(), ReadTensorName(argument, path));
    return absl::OkStatus();
  }
  if (!argument.is_list()) return absl::OkStatus();
  for (size_t i = 0; i < argument.as_list().size(); ++i) {
    RETURN_IF_ERROR(
        AddTensors(argument.as_list()[i], path.Index(i), nesting + 1, names));
  }
  return absl::OkStatus();
}

// Null, or a list of such.
bool IsNothing(const Value& value) {
  return value.is_null() ||
         (value.is_list() && std::all_of(value.as_list().begin(),
                                         value.as_list().end(), IsNothing));
}

// What a call of MultiHeadAttention may read, in Keras' order of its arguments,
// which is that of our layer's inputs. Tensors behind are masks.
constexpr absl::string_view kAttentionArguments[] = {"query", "value", "key"};

bool IsAttention(const Value& entry) {
  return TextOf(entry, "class_name") == "MultiHeadAttention";
}

// The masks that a call of MultiHeadAttention may be given by keyword, in the
// order in which Keras walks over keywords.
constexpr absl::string_view kAttentionMasks[] = {"attention_mask", "key_mask",
                                                 "query_mask", "value_mask"};

// Whether a keyword of a call gives a tensor as a mask that the layer reads as
// an input (Layer::keyword_inputs).
bool IsMaskInput(const Value& entry, const Value::Entry& keyword) {
  if (!IsTensor(keyword.value)) return false;
  if (TextOf(entry, "class_name") == "Softmax") {
    return keyword.key == kMaskKeyword;
  }
  return IsAttention(entry) &&
         std::find(std::begin(kAttentionMasks), std::end(kAttentionMasks),
                   keyword.key) != std::end(kAttentionMasks);
}

// The place of a keyword among kAttentionArguments; their number if it is none.
size_t AttentionArgument(absl::string_view keyword) {
  return std::find(std::begin(kAttentionArguments),
                   std::end(kAttentionArguments), keyword) -
         std::begin(kAttentionArguments);
}

bool HasTensor(const Value& value) {
  return IsTensor(value) ||
         (value.is_list() && std::any_of(value.as_list().begin(),
                                         value.as_list().end(), HasTensor));
}

bool IsFlag(const Value::Entry& keyword) {
  return keyword.value.kind() == Value::Kind::kBool &&
         keyword.key != "training";
}

absl::Status RefuseKeyword(const Value& entry, const Value::Entry& keyword,
                           const Path& path) {
  std::string expected;
  if (HasTensor(keyword.value)) {
    expected =
        IsAttention(entry)
            ? absl::StrCat(" (by keyword it reads ",
                           absl::StrJoin(kAttentionArguments, ", "), ", ",
                           absl::StrJoin(kAttentionMasks, ", "), ")")
            : " (give tensors by position)";
  }
  return NotSupported(
      path.Key(keyword.key),
      absl::StrCat("calls of ", Excerpt(Value(TextOf(entry, "name"))),
                   " with this keyword argument", expected));
}

// Keras writes `mask: null`, in a list for each input of a model, and
// `training` as a default that fit, evaluate and predict override.
absl::Status CheckKeywords(const Value& entry, const Value& node,
                           const Path& path) {
  const Value* keywords = node.Find("kwargs");
  if (keywords == nullptr || keywords->is_null()) return absl::OkStatus();
  if (!keywords->is_map()) return WrongType(*keywords, path, "a map");
  for (const Value::Entry& keyword : keywords->as_map()) {
    const bool is_input =
        IsTensor(keyword.value) && IsAttention(entry) &&
        AttentionArgument(keyword.key) < std::size(kAttentionArguments);
    const bool is_default =
        keyword.key == "training" && !HasTensor(keyword.value);
    if (!IsNothing(keyword.value) && !is_default && !IsFlag(keyword) &&
        keyword.key != kMaskKeyword && !is_input &&
        !IsMaskInput(entry, keyword)) {
      return RefuseKeyword(entry, keyword, path);
    }
  }
  return absl::OkStatus();
}

// Without those that came before.
std::vector<std::string> FirstOfEach(const std::vector<std::string>& names) {
  std::vector<std::string> firsts;
  for (const std::string& name : names) {
    if (std::find(firsts.begin(), firsts.end(), name) == firsts.end()) {
      firsts.push_back(name);
    }
  }
  return firsts;
}

// Adds the names of what a call reads by keywords, behind those that
// it reads by position. Keras walks them in the order of the keys, and names
// what is in its files by the order in which that walk comes to a layer first,
// so that must not differ from ours.
absl::Status AddKeywordTensors(const Value& entry, const Value& node,
                               const Path& path,
                               std::vector<std::string>& names) {
  std::map<std::string, std::string> by_keyword;
  std::map<std::string, std::string> masks;
  for (const Value::Entry& keyword : KeywordsOf(node)) {
    if (!IsTensor(keyword.value) ||
        (keyword.key == kMaskKeyword && !IsMaskInput(entry, keyword))) {
      continue;
    }
    const Path keyword_path = path.Key(keyword.key);
    if (AttentionArgument(keyword.key) < names.size()) {
      return ConfigError(keyword_path, "is also given by position");
    }
    ASSIGN_OR_RETURN(const std::string tensor,
                     ReadTensorName(keyword.value, keyword_path));
    (IsMaskInput(entry, keyword) ? masks : by_keyword)[keyword.key] = tensor;
  }
  std::map<std::string, std::string> all = by_keyword;
  all.insert(masks.begin(), masks.end());
  std::vector<std::string> in_keras = names;
  for (const auto& [keyword, name] : all) in_keras.push_back(name);
  while (!by_keyword.empty()) {
    const std::string next(kAttentionArguments[names.size()]);
    const auto found = by_keyword.extract(next);
    if (found.empty()) {
      return ConfigError(path.Key(next), "missing; expected a tensor");
    }
    names.push_back(found.mapped());
  }
  for (const auto& [keyword, name] : masks) names.push_back(name);
  if (FirstOfEach(in_keras) != FirstOfEach(names)) {
    return NotSupported(path,
                        "different tensors by keyword in another order than "
                        "query, value, key and masks (give all but masks by "
                        "position)");
  }
  return absl::OkStatus();
}

// The calls of a layer; none of an Input.
absl::StatusOr<const Value::List*> CallsOf(const Value& entry,
                                           const Path& path) {
  const Value* nodes = entry.Find("inbound_nodes");
  if (nodes == nullptr || !nodes->is_list()) {
    return ConfigError(path.Key("inbound_nodes"), "expected a list");
  }
  return &nodes->as_list();
}

// The arguments of a call of the layer in an entry.
absl::StatusOr<const Value::List*> ArgumentsOf(const Value& entry,
                                               const Value& node,
                                               const Path& node_path) {
  if (!node.is_map()) return WrongType(node, node_path, "a map");
  RETURN_IF_ERROR(CheckKeywords(entry, node, node_path.Key("kwargs")));
  const Value* arguments = node.Find("args");
  if (arguments == nullptr || !arguments->is_list()) {
    return ConfigError(node_path.Key("args"), "expected a list");
  }
  return &arguments->as_list();
}

// Whether an argument of a call is at the place that we take it for: those of
// MultiHeadAttention are tensors, one each. `inputs`: tensors before it.
absl::Status CheckPosition(const Value& entry, const Value& argument,
                           size_t position, size_t inputs, const Path& path) {
  if (!IsAttention(entry) || !HasTensor(argument)) return absl::OkStatus();
  if (IsTensor(argument) && position == inputs &&
      position < std::size(kAttentionArguments)) {
    return absl::OkStatus();
  }
  return NotSupported(
      path, absl::StrCat("calls of ", Excerpt(Value(TextOf(entry, "name"))),
                         " with other tensors than one each for ",
                         absl::StrJoin(kAttentionArguments, ", ")));
}

}  // namespace

absl::StatusOr<std::vector<std::vector<std::string>>> ReadInboundNodes(
    const Value& entry, const Path& path) {
  ASSIGN_OR_RETURN(const Value::List* const nodes, CallsOf(entry, path));
  std::vector<std::vector<std::string>> calls;
  for (size_t i = 0; i < nodes->size(); ++i) {
    const Path node_path = path.Key("inbound_nodes").Index(i);
    ASSIGN_OR_RETURN(const Value::List* const arguments,
                     ArgumentsOf(entry, (*nodes)[i], node_path));
    std::vector<std::string>& names = calls.emplace_back();
    const Path args_path = node_path.Key("args");
    for (size_t k = 0; k < arguments->size(); ++k) {
      RETURN_IF_ERROR(CheckPosition(entry, (*arguments)[k], k, names.size(),
                                    args_path.Index(k)));
      RETURN_IF_ERROR(AddTensors((*arguments)[k], args_path.Index(k),
                                 /*nesting=*/0, names));
    }
    RETURN_IF_ERROR(
        AddKeywordTensors(entry, (*nodes)[i], node_path.Key("kwargs"), names));
    if (names.empty()) return ConfigError(args_path, "has no tensor");
  }
  return calls;
}

absl::StatusOr<Value::Map> ReadCallFlags(const Value& entry, const Path& path) {
  ASSIGN_OR_RETURN(const Value::List* const nodes, CallsOf(entry, path));
  Value::Map flags;
  for (size_t i = 0; i < nodes->size(); ++i) {
    const Path node_path = path.Key("inbound_nodes").Index(i);
    RETURN_IF_ERROR(ArgumentsOf(entry, (*nodes)[i], node_path).status());
    Value::Map of_call;
    std::set<std::string> masks;
    for (const Value::Entry& keyword : KeywordsOf((*nodes)[i])) {
      if (IsFlag(keyword)) of_call.push_back(keyword);
      if (IsMaskInput(entry, keyword)) masks.insert(keyword.key);
    }
    if (!masks.empty()) {
      of_call.push_back(
          {"mask_inputs", Value::List(masks.begin(), masks.end())});
    }
    if (i == 0) flags = of_call;
    if (Value(flags) == Value(of_call)) continue;
    return NotSupported(node_path.Key("kwargs"),
                        "calls of a layer with different keyword arguments");
  }
  return flags;
}

absl::Status MakeLayerOfOperation(const Value& entry, absl::string_view name,
                                  const Path& path, KerasObject& layer) {
  if (!IsOperation(entry)) return absl::OkStatus();
  const auto refuse = [&] {
    return NotSupported(
        path, absl::StrCat("arguments such as those of ", layer.class_name,
                           " \"", name, "\""));
  };
  ASSIGN_OR_RETURN(const Value::List* const nodes, CallsOf(entry, path));
  if (nodes->size() != 1) return refuse();
  ASSIGN_OR_RETURN(
      const Value::List* const arguments,
      ArgumentsOf(entry, (*nodes)[0], path.Key("inbound_nodes").Index(0)));
  if (arguments->size() != 2) return refuse();
  KerasOperator keras_operator{layer.class_name};
  for (const Value& argument : *arguments) {
    if (IsTensor(argument)) continue;
    if (!argument.is_number()) return refuse();
    keras_operator.number = argument.as_double();
    keras_operator.number_is_left = &argument == &arguments->front();
  }
  std::optional<KerasObject> computed = LayerOf(keras_operator);
  if (!computed) return refuse();
  layer = *std::move(computed);
  return absl::OkStatus();
}

}  // namespace paceline
