// Included before everything else under the thread sanitizer.
//
// protobuf's maps have two more members there, which Debian's library, not
// built for it, knows nothing of: objects of google.protobuf.Struct would be
// laid out in two ways.
#ifndef PACELINE_TESTS_SANITIZERS_PROTOBUF_MAP_LAYOUT_H_
#define PACELINE_TESTS_SANITIZERS_PROTOBUF_MAP_LAYOUT_H_

#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")

#endif  // PACELINE_TESTS_SANITIZERS_PROTOBUF_MAP_LAYOUT_H_
