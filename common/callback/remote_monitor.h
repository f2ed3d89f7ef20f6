// Posts the logs of each epoch to a server, as keras.callbacks.RemoteMonitor
// does.
#ifndef PACELINE_COMMON_CALLBACK_REMOTE_MONITOR_H_
#define PACELINE_COMMON_CALLBACK_REMOTE_MONITOR_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/callback/callback.h"

namespace paceline {

class Value;

template <typename T>
class FieldTable;

// Headers of a request: null, or a map of names to values. See codec.h.
struct RequestHeaders {
  std::vector<std::pair<std::string, std::string>> entries;
};
absl::Status ReadConfig(const Value& value, const Path& path,
                        RequestHeaders& out);
Value WriteConfig(const RequestHeaders& headers);
std::string ConfigType(const RequestHeaders*);

// A server that cannot be reached is a warning.
class RemoteMonitor final : public Callback {
 public:
  static constexpr char kClassName[] = "RemoteMonitor";
  static const FieldTable<RemoteMonitor>& Fields();

  absl::string_view class_name() const override { return kClassName; }
  absl::Status Prepare(const CallbackContext& context,
                       const Path& path) override;
  void EpochEnded(EpochEnd& end, Decision& decision) override;

  std::string root = "http://localhost:9000";
  std::string path = "/publish/epoch/end/";
  std::string field = "data";
  RequestHeaders headers;
  bool send_as_json = false;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_REMOTE_MONITOR_H_
