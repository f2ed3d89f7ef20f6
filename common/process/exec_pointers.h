// Strings as execve takes them.
#ifndef PACELINE_COMMON_PROCESS_EXEC_POINTERS_H_
#define PACELINE_COMMON_PROCESS_EXEC_POINTERS_H_

#include <string>
#include <vector>

namespace paceline {

// Pointers into the strings, which must outlive them, and a null at the end.
inline std::vector<char*> ExecPointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_EXEC_POINTERS_H_
