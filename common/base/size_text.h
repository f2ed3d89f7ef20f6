// Sizes as people read them; option_text.h reads what they write.
#ifndef PACELINE_COMMON_BASE_SIZE_TEXT_H_
#define PACELINE_COMMON_BASE_SIZE_TEXT_H_

#include <cstdint>
#include <string>

namespace paceline {

// In the largest unit of which there is one, to four digits: "512 B",
// "1.5 MiB", "62.76 GiB".
std::string SizeText(uint64_t bytes);

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_SIZE_TEXT_H_
