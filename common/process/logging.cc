#include "common/process/logging.h"

#include <glog/logging.h>

namespace paceline {

void StartLogging(const char* program, bool quiet) {
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = quiet ? google::GLOG_WARNING : google::GLOG_INFO;
  google::InitGoogleLogging(program);
}

void LogEverything() { FLAGS_minloglevel = google::GLOG_INFO; }

}  // namespace paceline
