// Collects the references of all classes in a registry.
#ifndef PACELINE_COMMON_CONFIG_REFERENCES_OF_H_
#define PACELINE_COMMON_CONFIG_REFERENCES_OF_H_

#include <vector>

#include "common/config/field_table.h"

namespace paceline {

// Each of `entries` must have a function `reference`.
template <typename Entries>
std::vector<ClassReference> ReferencesOf(const Entries& entries) {
  std::vector<ClassReference> references;
  for (const auto& entry : entries) references.push_back(entry.reference());
  return references;
}

}  // namespace paceline

#endif  // PACELINE_COMMON_CONFIG_REFERENCES_OF_H_
