// Nothing but the place where the flags of the product `RealmSwiftDynamic` apply: those of RealmSwift's own
// target would be those of every program that has it linked in.

import RealmSwift
