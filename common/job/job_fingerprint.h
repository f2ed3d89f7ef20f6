// Detects whether two processes were given the same job.
#ifndef PACELINE_COMMON_JOB_JOB_FINGERPRINT_H_
#define PACELINE_COMMON_JOB_JOB_FINGERPRINT_H_

#include <string>

#include "paceline/v1/job.pb.h"

namespace paceline {

// 16 hexadecimal digits, equal for equal jobs. Ignores the folders of files,
// and of URLs all but the name of the file, since hosts keep data in different
// places, and the size of the cluster and `evaluator`, since TF_CONFIG
// overrides them. Not cryptographic.
std::string JobFingerprint(const v1::Job& job);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_JOB_FINGERPRINT_H_
