#include "CKernels.h"

static _Thread_local void *slots[CK_SLOT_COUNT];

void **ck_thread_slot(int which) { return &slots[which]; }
