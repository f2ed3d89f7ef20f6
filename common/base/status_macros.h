// Macros and functions to pass errors on.
#ifndef PACELINE_COMMON_BASE_STATUS_MACROS_H_
#define PACELINE_COMMON_BASE_STATUS_MACROS_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

// Returns from the enclosing function if `expression` is an error.
#define RETURN_IF_ERROR(expression)                             \
  do {                                                          \
    if (absl::Status returned = (expression); !returned.ok()) { \
      return returned;                                          \
    }                                                           \
  } while (false)

// Assigns the value of a StatusOr to `target`, or returns its error.
#define ASSIGN_OR_RETURN(target, expression) \
  ASSIGN_OR_RETURN_(PACELINE_CONCAT_(result_, __LINE__), target, expression)
#define ASSIGN_OR_RETURN_(result, target, expression) \
  auto result = (expression);                         \
  if (!result.ok()) return result.status();           \
  target = *std::move(result)
#define PACELINE_CONCAT_(a, b) PACELINE_CONCAT2_(a, b)
#define PACELINE_CONCAT2_(a, b) a##b

namespace paceline {

// "UNAVAILABLE: the message", without payloads, for people.
std::string CodeAndMessage(const absl::Status& status);

// The same error, with its payloads, and another message.
absl::Status WithMessage(const absl::Status& status, absl::string_view message);

// The same error, with its payloads, and `prefix` (who, or where) before its
// message.
absl::Status Annotate(const absl::Status& status, absl::string_view prefix);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_STATUS_MACROS_H_
