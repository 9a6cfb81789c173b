// Observation in the sense of the standard library: what `withObservationTracking` reads is noted, and its block
// is called at the next change. It is not in the accessors of properties, which it would make slower.

import CoreSwift
import Foundation
public import Observation

/// A managed object or collection whose reads `withObservationTracking` notes.
///
/// ```swift
/// let model = dog.observable
/// withObservationTracking {
///     show(model.name)
/// } onChange: {
///     scheduleUpdate()
/// }
/// ```
///
/// Any change of the object, or of the elements, counts. `onChange` is called where the realm belongs, after
/// the change. The observation ends with the last reference.
@dynamicMemberLookup
public final class RealmObservable<Subject>: Observable {
    private let subject: Subject
    private let registrar = ObservationRegistrar()
    private var token: NotificationToken?

    init(_ subject: Subject, _ observe: (@escaping () -> Void) -> NotificationToken) {
        self.subject = subject
        token = observe { [weak self] in
            guard let self else { return }
            self.registrar.withMutation(of: self, keyPath: \.value) {}
        }
    }

    /// The object or collection.
    public var value: Subject {
        registrar.access(self, keyPath: \.value)
        return subject
    }

    /// A property of it.
    public subscript<Value>(dynamicMember path: KeyPath<Subject, Value>) -> Value {
        value[keyPath: path]
    }

    /// A property of it, which can be assigned in write transactions.
    public subscript<Value>(
        dynamicMember path: ReferenceWritableKeyPath<Subject, Value>
    ) -> Value {
        get { value[keyPath: path] }
        set { subject[keyPath: path] = newValue }
    }
}

@available(*, unavailable)
extension RealmObservable: @unchecked Sendable {}

extension _ObservableObject {
    /// The object with reads that `withObservationTracking` notes.
    public var observable: RealmObservable<Self> {
        RealmObservable(self) { changed in observe { (_: ObjectChange<Self>) in changed() } }
    }
}

extension RealmCollection {
    /// The collection with reads that `withObservationTracking` notes.
    public var observable: RealmObservable<Self> {
        RealmObservable(self) { changed in
            observe(keyPaths: nil as [String]?, on: nil) { (change: RealmCollectionChange<Self>) in
                // The first call says what is there already.
                if case .initial = change { return }
                changed()
            }
        }
    }
}
