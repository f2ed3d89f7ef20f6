#include "common/onnx/translate_function.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"
#include "common/onnx/operation_form.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Null if there is none.
const OperationForm* FormOf(absl::string_view operation) {
  for (const absl::Span<const OperationForm> forms :
       {ElementwiseForms(), ImageForms(), LayoutForms(), NormalizationForms(),
        RowForms(), ScanForms()}) {
    for (const OperationForm& form : forms) {
      if (form.operation == operation) return &form;
    }
  }
  return nullptr;
}

// By call: whether one of the results depends on it. Regularizers, for one,
// add calls that no output reads.
std::vector<bool> NeededCalls(const op::Function& function,
                              absl::Span<const int> results) {
  std::vector<bool> is_read(function.tensor_count());
  for (const int result : results) is_read[result] = true;
  const std::vector<op::Call>& calls = function.calls();
  std::vector<bool> is_needed(calls.size());
  for (size_t i = calls.size(); i-- > 0;) {
    for (const int output : calls[i].outputs) {
      if (is_read[output]) is_needed[i] = true;
    }
    if (!is_needed[i]) continue;
    for (const int input : calls[i].inputs) is_read[input] = true;
  }
  return is_needed;
}

absl::Status TranslateCall(const TranslatedCall& call, ValueNames& names) {
  const OperationForm* const form = FormOf(call.call.operation->name());
  if (form == nullptr) {
    return absl::UnimplementedError(absl::StrCat(
        "the operation ", call.call.operation->name(), " has no form in ONNX"));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> outputs,
                   form->translate(call));
  for (size_t i = 0; i < outputs.size(); ++i) {
    names[call.call.outputs[i]] = outputs[i];
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TranslateFunction(const FunctionPair& function,
                               absl::Span<const int> results, OnnxGraph& graph,
                               ValueNames& names) {
  const std::vector<op::Call>& calls = function.first.calls();
  const std::vector<op::Call>& second_calls = function.second.calls();
  CHECK_EQ(calls.size(), second_calls.size());
  const std::vector<bool> is_needed = NeededCalls(function.first, results);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!is_needed[i]) continue;
    CHECK_EQ(calls[i].operation->name(), second_calls[i].operation->name());
    std::vector<std::string> inputs;
    for (const int input : calls[i].inputs) inputs.push_back(names.at(input));
    // Calls of a loop's body have no owner; their layer is the loop's.
    if (!calls[i].owner.empty()) {
      graph.SetOwner(absl::StripPrefix(calls[i].owner, "layer "));
    }
    const absl::Status status = TranslateCall(
        {function, calls[i], second_calls[i], inputs, graph}, names);
    if (!status.ok() && !calls[i].owner.empty()) {
      return Annotate(status, calls[i].owner);
    }
    RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

}  // namespace paceline
