#include "common/model/keras_names.h"

#include "absl/strings/ascii.h"

namespace paceline {

std::string ToSnakeCase(absl::string_view class_name) {
  std::string name;
  for (size_t i = 0; i < class_name.size(); ++i) {
    const char c = class_name[i];
    if (i > 0 && absl::ascii_isupper(c)) {
      const bool starts_word =
          i + 1 < class_name.size() && !absl::ascii_isupper(class_name[i + 1]);
      if (starts_word || absl::ascii_islower(class_name[i - 1])) name += '_';
    }
    name += absl::ascii_tolower(c);
  }
  return name;
}

}  // namespace paceline
