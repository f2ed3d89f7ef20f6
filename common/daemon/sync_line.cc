#include "common/daemon/sync_line.h"

#include <utility>

#include "common/base/mutex.h"

namespace paceline {

struct SyncLine::Mailbox {
  Mutex mutex;
  CondVar changed;
  std::vector<Answer> answers ABSL_GUARDED_BY(mutex);
  int open ABSL_GUARDED_BY(mutex) = 0;
};

SyncLine::SyncLine(ServiceClient& client)
    : client_(client), mailbox_(std::make_shared<Mailbox>()) {}

SyncLine::~SyncLine() {
  client_.CancelAll();
  MutexLock lock(mailbox_->mutex);
  while (mailbox_->open > 0) {
    mailbox_->changed.WaitFor(mailbox_->mutex, absl::Seconds(1));
  }
}

void SyncLine::Send(const v1::SyncRequest& request) {
  {
    MutexLock lock(mailbox_->mutex);
    ++mailbox_->open;
  }
  client_.StartSync(
      request, [mailbox = mailbox_, sequence = request.sequence()](
                   absl::StatusOr<v1::SyncResponse> response) {
        MutexLock lock(mailbox->mutex);
        --mailbox->open;
        mailbox->answers.push_back({sequence, std::move(response)});
        mailbox->changed.NotifyAll();
      });
}

std::vector<SyncLine::Answer> SyncLine::Take(absl::Duration time) {
  MutexLock lock(mailbox_->mutex);
  if (mailbox_->answers.empty()) {
    mailbox_->changed.WaitFor(mailbox_->mutex, time);
  }
  return std::exchange(mailbox_->answers, {});
}

int SyncLine::open() const {
  MutexLock lock(mailbox_->mutex);
  return mailbox_->open;
}

}  // namespace paceline
