// The references of all classes of a registry.
#ifndef PACELINE_COMMON_CONFIG_REFERENCES_OF_H_
#define PACELINE_COMMON_CONFIG_REFERENCES_OF_H_

#include <vector>

#include "common/config/field_table.h"

namespace paceline {

// `entries` have a function `reference`, in the order of the result.
template <typename Entries>
std::vector<ClassReference> ReferencesOf(const Entries& entries) {
  std::vector<ClassReference> references;
  for (const auto& entry : entries) references.push_back(entry.reference());
  return references;
}

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_REFERENCES_OF_H_
