/* The public header, for Swift. */
#ifndef CREALM_H
#define CREALM_H

#include "../../../include/realm.h"

#endif
