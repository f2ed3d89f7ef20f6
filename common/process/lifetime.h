// A child that never outlives its parent.
#ifndef PACELINE_COMMON_PROCESS_LIFETIME_H_
#define PACELINE_COMMON_PROCESS_LIFETIME_H_

namespace paceline {

// Ends this process when the other end of the pipe `lifetime_fd` closes, which
// the kernel does when the parent dies, of whatever cause. The parent asks for
// PR_SET_PDEATHSIG besides; the pipe also works when the parent's thread that
// spawned the child ends, or the child was started through a wrapper. Starts a
// thread that lives as long as the process.
void EndWithParent(int lifetime_fd);

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_LIFETIME_H_
