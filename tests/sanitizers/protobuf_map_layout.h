// Included before everything else under the thread sanitizer.
//
// There protobuf's maps have two more members, of which Debian's library, which
// is not built for it, does not know. Without this file, objects of
// google.protobuf.Struct would have two different layouts.
#ifndef PACELINE_TESTS_SANITIZERS_PROTOBUF_MAP_LAYOUT_H_
#define PACELINE_TESTS_SANITIZERS_PROTOBUF_MAP_LAYOUT_H_

#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")

#endif  // PACELINE_TESTS_SANITIZERS_PROTOBUF_MAP_LAYOUT_H_
