# العملاء والأعضاء ومفاتيح API والبريد وسجل التدقيق.
done-customer-saved = تم حفظ الاسم.
done-customers-merged = أصبح العميلان عميلًا واحدًا.
done-invited = الدعوة في طريقها.
done-invitation-written = كُتبت الدعوة في ملف لأنه لم يُضبط خادم بريد. لن تصل إلى أحد.
done-member-added = تمت إضافة العضو، لكن تعذّر إرسال البريد. أعد إرسال الدعوة لاحقًا.
done-role-changed = تم تغيير الدور.
done-member-removed = تمت إزالة العضو.
done-key-created-before = أُرسل هذا النموذج مرتين. أُنشئ المفتاح مرة واحدة وعُرض مرة واحدة. إن لم تنسخه فألغه وأنشئ مفتاحًا جديدًا.
done-key-revoked = تم إلغاء المفتاح.
done-mail-retried = عدد الرسائل التي يُعاد إرسالها: { $number }.
done-mail-tested = رسالة الاختبار في طريقها.
no-mail-server = لم يُضبط خادم بريد. لا يستطيع العملاء تسجيل الدخول، ولا تصل أي رسالة إلى أحد: تُكتب الرسائل في ملفات. يمكن لمن يشغّل هذه الخدمة ضبط خادم (smtp_url).
done-mail-written = كُتبت رسالة الاختبار في ملف. لن تصل إلى أحد.

# العملاء.
customers-lead = كل من صوّت أو طلب شيئًا أو كتب تعليقًا.
customers-search = البحث عن العملاء
customers-count = { $count ->
    [zero] لا عملاء
    [one] عميل واحد
    [two] عميلان
    [few] { $number } عملاء
    [many] { $number } عميلًا
   *[other] { $number } عميل
}
customers-all = عرض كل العملاء
customers-none-title = لا عملاء بعد
customers-none-text = يظهر هنا كل من يصوّت في البوابة أو يُسجَّل له صوت عبر API.
customers-not-found-title = لم يُعثر على أحد
customers-not-found-text = جرّب جزءًا من الاسم أو من العنوان.
field-customer_query = البحث
customer-votes = الأصوات
customer-since = منذ
customer-change = تعديل العميل
customer-name-hint = يظهر بجانب ما يكتبه هذا العميل. ويرى الفريق العنوان أيضًا.
customer-merge-link = الدمج مع عميل آخر
customer-requests = طلبات العميل
customer-notes = الملاحظات الخاصة
customer-notes-hint = لا يرى الملاحظات إلا الفريق.
customer-subscriptions = يصله بريد عن
customer-no-votes = لم يصوّت هذا العميل لشيء.
customer-no-requests = لم يطلب هذا العميل شيئًا.
customer-no-notes = لا ملاحظات للفريق عن هذا العميل.
customer-no-subscriptions = لا يصل هذا العميل بريد عن أي طلب.
customer-stopped = أوقف هذا العميل كل البريد في
customer-latest = هذه أحدث { $number }.
customer-merge-title = دمج عميلين
customer-merge-lead = أحيانًا يكون لشخص واحد عنوانان. ابحث عن العميل الآخر بالاسم أو بالعنوان.
customer-merge-none = لم يُعثر على عميل آخر. جرّب جزءًا من الاسم أو من العنوان.
customer-merge-choose = اختيار
customer-unite-lead = يصبح الاثنان عميلًا واحدًا. اختر أي عنوان وأي صفحة يبقيان.
customer-keep = الإبقاء على { $name }
customer-keep-missing = اختر أي العميلين يبقى.
customer-gone = لم يعد ذلك العميل موجودًا. ابحث عن عميل آخر.
customer-unite-records = تصبح أصوات الاثنين وطلباتهما وتعليقاتهما والملاحظات الخاصة والاشتراكات لمن تُبقي عليه.
customer-unite-votes = حيث صوّت الاثنان للطلب نفسه يُحسب صوت واحد.
customer-unite-address = لا يعود العنوان الآخر لأحد بعد ذلك. ومن يكتب به لاحقًا فهو عميل جديد.
customer-unite-name = يبقى اسم من تُبقي عليه. وإن لم يكن له اسم أُخذ الآخر.
customer-unite-mail = إذا أوقف أحدهما كل البريد بقي موقوفًا.
customer-unite-final = لا يمكن التراجع عن ذلك.
customer-merge = دمج

# الأعضاء.
members-lead = أفراد فريقك. يسجّلون الدخول برابط في البريد ويردّون على الطلبات.
members-list = الفريق
member-you = أنت
member-since = منذ
member-role-of = دور { $name }
member-change = حفظ
member-change-of = حفظ دور { $name }
member-invite-again-of = إرسال الرابط من جديد إلى { $name }
member-remove = إزالة
member-remove-of = إزالة { $name }
member-own-hint = إذا غيّرت دورك أو أزلت نفسك فسيُسجَّل خروجك. ويبقى دائمًا مشرف واحد على الأقل.
member-invite-title = دعوة شخص
member-name-hint = يراه العملاء بجانب ردود الفريق.
field-role = الدور
member-invite = دعوة
roles-title = ما تسمح به الأدوار
role-member = عضو
role-member-may = يعمل على الطلبات والتعليقات والملاحظات الخاصة وسجل التغييرات والعملاء.
role-admin = مشرف
role-admin-may = كل ما يحق للأعضاء، وكذلك المراحل والأعضاء ومفاتيح API والإعدادات والبريد وسجل التدقيق.
roles-hint = يسري الدور الجديد فورًا: يُسجَّل خروج الشخص ثم يسجّل الدخول من جديد.
member-known = يوجد في الفريق شخص بهذا العنوان. يمكنك إرسال الرابط من جديد من القائمة.
member-gone = لم يعد هذا الشخص في الفريق.
member-role-missing = اختر دورًا.
member-last-admin = هذا آخر مشرف، ولا بد للفريق من مشرف. اجعل شخصًا آخر مشرفًا أولًا.
member-link-limit = لا يمكن الآن إرسال دعوات أخرى: المسموح ثلاث في الساعة إلى عنوان واحد و100 في الساعة إجمالًا. يرجى المحاولة لاحقًا.
member-remove-title = إزالة { $name }؟
member-remove-access = ينتهي الوصول إلى لوحة الإدارة فورًا في كل المتصفحات.
member-remove-own = هذا أنت. سيُسجَّل خروجك فورًا، ولن يستطيع دعوتك من جديد إلا مشرف آخر.
member-remove-stays = تبقى التعليقات والملاحظات الخاصة بالاسم نفسه.

# مفاتيح API.
keys-lead = بالمفتاح يقرأ البرنامج البيانات نفسها التي يعمل عليها الفريق ويكتبها.
keys-docs = كيفية استخدام API
keys-active = المفاتيح الصالحة
keys-none = لا يوجد مفتاح صالح. أنشئ واحدًا أدناه.
keys-ended = { $count ->
    [zero] لا مفاتيح منتهية
    [one] مفتاح واحد لم يعد صالحًا
    [two] مفتاحان لم يعودا صالحين
    [few] { $number } مفاتيح لم تعد صالحة
    [many] { $number } مفتاحًا لم يعد صالحًا
   *[other] { $number } مفتاح لم يعد صالحًا
}
keys-ended-caption = مفاتيح لم تعد صالحة
key-last-four = ينتهي بـ
key-scopes = الصلاحيات
key-created = أُنشئ
key-used = آخر استخدام
key-used-never = لم يُستخدم
key-expires = ينتهي
key-ended = انتهى
key-revoked = أُلغي
key-expired = انتهت صلاحيته
key-actions = الإجراءات
key-rotate = تبديل
key-rotate-of = تبديل { $name }
key-rotate-hint = ينشئ التبديل مفتاحًا جديدًا بالاسم والصلاحيات نفسها. اختر بجانب الزر متى ينتهي القديم، ليكون أمام البرامج وقت للانتقال إلى الجديد.
key-overlap-of = متى ينتهي المفتاح القديم { $name }
key-overlap-none = فورًا
key-overlap-hour = بعد ساعة
key-overlap-day = بعد يوم
key-overlap-week = بعد 7 أيام
key-overlap-missing = اختر متى ينتهي المفتاح القديم.
key-ended-before = لم يعد هذا المفتاح صالحًا فلا يمكن تبديله. أنشئ مفتاحًا جديدًا.
key-rotated-at-once = لم يعد المفتاح القديم صالحًا.
key-rotated-hour = يبقى المفتاح القديم صالحًا لساعة واحدة.
key-rotated-day = يبقى المفتاح القديم صالحًا ليوم واحد.
key-rotated-week = يبقى المفتاح القديم صالحًا لمدة 7 أيام.
key-revoke = إلغاء
key-revoke-of = إلغاء { $name }
key-revoke-title = إلغاء { $name }؟
key-revoke-text = تُرفض البرامج التي تستخدم هذا المفتاح خلال ثانية. لا يمكن التراجع عن ذلك، وستحتاج إلى مفتاح جديد.
key-revoked-before = سبق إلغاء هذا المفتاح.
key-create-title = إنشاء مفتاح
key-name-hint = البرنامج الذي سيستخدمه حتى تعرفه لاحقًا: «مزامنة مكتب الدعم».
key-scope-read = قراءة كل ما يراه الفريق، ومنه عناوين العملاء.
key-scope-write = إنشاء الطلبات والأصوات والتعليقات والملاحظات الخاصة وسجل التغييرات وتعديلها.
key-scope-manage = تغيير ما يخص الجميع: المراحل والمسارات والإعدادات والبوابة.
key-scope-missing = اختر صلاحية واحدة على الأقل.
field-expires_in = ينتهي بعد
key-lifetime-never = لا ينتهي
key-lifetime-30 = 30 يومًا
key-lifetime-90 = 90 يومًا
key-lifetime-365 = سنة واحدة
key-lifetime-hint = المفتاح الذي ينتهي أكثر أمانًا، ويمكنك تبديله قبل ذلك.
key-lifetime-missing = اختر متى ينتهي المفتاح.
key-create = إنشاء المفتاح
key-created-title = المفتاح الجديد { $name }
key-created-notice = تم إنشاء المفتاح. انسخه الآن: لن يُعرض إلا هذه المرة.
field-key = المفتاح
key-created-hint = احفظه كما تحفظ كلمة المرور. لا تخزّن الخدمة إلا بصمته ولا تستطيع عرضه مرة أخرى.
copy = نسخ
copied = نُسخ
key-try = جرّبه
key-try-hint = يعرض هذا الأمر اسم المفتاح وصلاحياته. ترسل البرامج المفتاح في الترويسة X-Api-Key.
key-copied = نسخت المفتاح

# البريد.
mail-lead = البريد الذي ترسله مساحة العمل هذه إلى العملاء والفريق.
mail-waiting = بانتظار الإرسال
mail-waiting-hint = يُرسل خلال ثوانٍ ما لم يؤجَّل.
mail-postponed = مؤجَّل
mail-postponed-hint = تعذّر إرساله ويُعاد حتى عشر مرات خلال يوم.
mail-failed = فشل
mail-failed-hint = توقفت المحاولات. لا يُرسل من جديد إلا بطلبك.
mail-sent = أُرسل مؤخرًا
mail-sent-hint = قبله خادم البريد. ويُنسى القديم بعد مدة.
mail-written-hint = كُتبت في ملفات ولم تُرسل إلى أحد. تُنسى القديمة بعد مدة.
mail-oldest = أقدم رسالة تنتظر منذ
mail-failures = ما تعذّر إرساله
mail-no-failures = لا شيء. وصل كل البريد إلى خادم البريد أو هو في الطريق.
mail-no-failures-written = لا شيء، لأنه لا يُرسل شيء.
mail-retry = إعادة إرسال البريد الفاشل
mail-send-now = إرسال البريد المؤجَّل الآن
mail-kind = الرسالة
mail-recipient = المستلم
mail-recipient-address = عنوان
mail-reason = السبب
mail-next = المحاولة التالية
mail-next-at = المحاولة التالية:
mail-given-up = توقفت المحاولات
mail-attempts = { $count ->
    [zero] لا محاولات
    [one] محاولة واحدة
    [two] محاولتان
    [few] { $number } محاولات
    [many] { $number } محاولة
   *[other] { $number } محاولة
}
mail-kind-comment = تعليق
mail-kind-status = حالة جديدة
mail-kind-merge = دمج
mail-kind-team = بريد إلى الفريق
mail-kind-changelog = سجل التغييرات
mail-kind-digest = ملخص لعدة رسائل
mail-kind-sign-in = رابط الدخول
mail-kind-test = رسالة اختبار
mail-kind-webhook = خطاف ويب معطّل
mail-latest = تُعرض أحدث { $number }.
mail-test-title = هل يصل البريد؟
mail-test-to = تُرسل رسالة الاختبار إلى عنوانك:
mail-test-hint = تُرسل كأي رسالة أخرى. وإن فشلت ظهر السبب أعلاه بعد لحظات.
mail-test-written = تُكتب في ملف مثل كل رسالة أخرى.
mail-test = إرسال رسالة الاختبار

# سجل التدقيق.
audit-lead = من غيّر ماذا: الفريق والبرامج التي تستخدم مفتاح API والأوامر والخدمة نفسها.
audit-actor = الفاعل
audit-action = الإجراء
audit-from = من
audit-to = إلى
audit-everybody = الجميع
audit-every-action = كل الإجراءات
actors-api-key = كل مفاتيح API
actors-member = كل الأعضاء
actors-customer = كل العملاء
actors-operator = كل المشغّلين
actors-service = الخدمة
audit-actor-member = العضو: { $name }
audit-actor-key = مفتاح API: { $name }
audit-actor-chosen = المختار
actor-api-key = مفتاح API
actor-member = عضو
actor-customer = عميل
actor-operator = مشغّل
actor-service = الخدمة
channel-api = عبر API
channel-page = في صفحة
channel-command = بأمر
channel-job = كمهمة في الخلفية
audit-when = متى
audit-who = من
audit-what = ماذا
audit-record = السجل والتغييرات
audit-only-record = هذا السجل فقط
audit-one-record = تُعرض القيود الخاصة بسجل واحد.
audit-all-records = عرض كل السجلات
audit-download = تنزيل CSV
audit-download-hint = بهذه التصفية، أحدث 10,000 قيد على الأكثر.
audit-none-title = لا قيود
audit-none-text = لم يتغير شيء يطابق هذه التصفية. وتُحذف القيود القديمة بعد مدة.
audit-newest = أحدث القيود
audit-older = قيود أقدم
audit-day-invalid = هذا ليس تاريخًا. يجب أن يكون مثل 2026-03-04.
audit-filter-unknown = لا يمكن تصفية السجل بهذا. اختر شيئًا آخر.
change-old = قبل:
change-new = الآن:
change-yes = نعم
change-no = لا
change-content = المحتوى
change-private = خاص
change-status = الحالة
change-position = الموضع
change-moved-to = نُقل إلى
change-awaiting = بانتظار الموافقة
change-merged-into = دُمج في
change-merged = الطلبات المدمجة
change-number = الرقم
change-subscribed = مشترك
change-requests = الطلبات المرتبطة
change-cover = صورة الغلاف
change-public-from = عام منذ
change-notified = أُرسل بريد إلى المصوّتين
change-notifies = بريد مع النشر
change-mails = الرسائل
change-product-name = اسم المنتج
change-website = الموقع
change-state = الحالة
change-kind = النوع
change-closed-track = المرحلة للمهام المغلقة
change-enabled = مفعل
change-secret = السر
change-notify-all-voters = مراسلة المصوتين
change-disabled-because = سبب التعطيل
change-redelivered = تسليمات أُعيد إرسالها
change-visibility = من يرى البوابة
change-mail-domains = نطاقات البريد
change-indexing = محركات البحث
change-embed-origins = المواقع المضمِّنة
change-languages = اللغات
change-moderation = الموافقة على المنشورات
change-accent = لون التمييز
change-logo = الشعار
change-reply-to = عنوان الرد
change-welcome = نص الترحيب
change-question = سؤال النموذج
change-noun = ما الذي يقدّمه الناس
change-names = الأسماء بحسب اللغة
change-time-zone = المنطقة الزمنية
change-sender-name = مُرسِل البريد
record-request = طلب
record-comment = تعليق
record-note = ملاحظة خاصة
record-link = رابط
record-link-source = مصدر روابط
record-webhook = خطاف ويب
record-changelog = سجل تغيير
record-customer = عميل
record-track = المرحلة
record-lane = المسار
record-tag = الوسم
record-member = عضو
record-key = مفتاح API
record-sign-in = تسجيل دخول
record-setting = الإعدادات
record-portal = البوابة
record-synonyms = المرادفات
record-attachment = ملف
record-mail = البريد
record-workspace = مساحة العمل
action-request-update = تعديل طلب
action-request-move = نقل طلب
action-request-merge = دمج طلب
action-request-unmerge = التراجع عن دمج
action-request-approve = اعتماد طلب
action-request-decline = رفض طلب
action-request-no-answer-needed = طلب لا يحتاج إلى رد
action-request-delete = حذف طلب
action-comment-update = تعديل تعليق
action-comment-approve = اعتماد تعليق
action-comment-delete = حذف تعليق
action-note-delete = حذف ملاحظة خاصة
action-link-create = إضافة رابط
action-link-update = تغيير رابط
action-link-delete = إزالة رابط
action-link-source-create = إضافة مصدر روابط
action-link-source-update = تغيير مصدر روابط
action-link-source-delete = حذف مصدر روابط
action-webhook-create = إنشاء خطاف ويب
action-webhook-update = تغيير خطاف ويب
action-webhook-rotate = تبديل سر خطاف ويب
action-webhook-test = إرسال حدث تجريبي
action-webhook-redeliver = إعادة تسليم أحداث
action-webhook-disable = تعطيل خطاف ويب من الخدمة
action-webhook-delete = حذف خطاف ويب
action-vote-withdraw = إزالة صوت
action-subscription-create = اشتراك
action-subscription-delete = إلغاء اشتراك
action-changelog-create = إنشاء سجل تغيير
action-changelog-update = تعديل سجل تغيير
action-changelog-publish = نشر سجل تغيير
action-changelog-unpublish = سحب سجل تغيير
action-changelog-delete = حذف سجل تغيير
action-customer-update = تعديل عميل
action-customer-merge = دمج عميلين
action-customer-export = تصدير بيانات عميل
action-customer-erase = محو عميل
action-export-create = إنشاء تصدير
action-import-start = بدء استيراد
action-import-finish = انتهاء استيراد
action-import-undo = التراجع عن استيراد
action-track-create = إضافة مرحلة
action-track-update = تعديل مرحلة
action-track-delete = حذف مرحلة
action-lane-create = إضافة مسار
action-lane-update = تعديل مسار
action-lane-delete = حذف مسار
action-tag-update = إعادة تسمية وسم
action-tag-delete = حذف وسم
action-member-add = إضافة عضو
action-member-role = تغيير دور
action-member-remove = إزالة عضو
action-sign-in-link = إنشاء رابط دخول
action-key-create = إنشاء مفتاح API
action-key-rotate = تبديل مفتاح API
action-key-revoke = إلغاء مفتاح API
action-setting-update = تعديل الإعدادات
action-portal-update = تعديل البوابة
action-synonyms-replace = استبدال المرادفات
action-attachment-delete = حذف ملف
action-mail-retry = إعادة إرسال البريد
action-mail-test = إرسال رسالة اختبار
action-workspace-create = إنشاء مساحة العمل
action-workspace-update = تغيير مساحة العمل
customer-texts = النصوص
customer-no-texts = لم يكتب هذا العميل شيئًا.
customer-texts-removed = { $count ->
    [one] أُزيل نص واحد ولا يظهر إلا في هذه الصفحة. ويُحذف بعد 30 يومًا من إزالته.
    [two] أُزيل نصان ولا يظهران إلا في هذه الصفحة. ويُحذفان بعد 30 يومًا من إزالتهما.
    [few] أُزيلت { $number } نصوص ولا تظهر إلا في هذه الصفحة. وتُحذف بعد 30 يومًا من إزالتها.
    [many] أُزيل { $number } نصًا ولا تظهر إلا في هذه الصفحة. وتُحذف بعد 30 يومًا من إزالتها.
   *[other] أُزيل { $number } نص ولا تظهر إلا في هذه الصفحة. وتُحذف بعد 30 يومًا من إزالتها.
}
customer-remove-texts = إزالة كل النصوص
customer-remove-title = إزالة كل نصوص { $name }
customer-remove-comments = { $count ->
    [one] لا يعود تعليق واحد ظاهرًا لأحد، حتى إن كان ينتظر الموافقة.
    [two] لا يعود تعليقان ظاهرين لأحد، حتى إن كانا ينتظران الموافقة.
    [few] لا تعود { $number } تعليقات ظاهرة لأحد، حتى ما ينتظر الموافقة منها.
    [many] لا يعود { $number } تعليقًا ظاهرًا لأحد، حتى ما ينتظر الموافقة منها.
   *[other] لا يعود { $number } تعليق ظاهرًا لأحد، حتى ما ينتظر الموافقة منها.
}
customer-remove-ideas = { $count ->
    [one] يصبح طلب واحد خاصًّا ويُزال عنوانه ووصفه ووسومه.
    [two] يصبح طلبان خاصّين وتُزال عناوينهما ووصفهما ووسومهما.
    [few] تصبح { $number } طلبات خاصة وتُزال عناوينها وأوصافها ووسومها.
    [many] يصبح { $number } طلبًا خاصًّا وتُزال عناوينها وأوصافها ووسومها.
   *[other] يصبح { $number } طلب خاصًّا وتُزال عناوينها وأوصافها ووسومها.
}
customer-remove-others = تبقى الأصوات وتعليقات الآخرين والملاحظات الخاصة. ويجد الفريق هذه الطلبات ضمن الخاصة بعنوان «[removed]».
customer-remove-many = تُزال دفعة واحدة أحدث { $number } من الطلبات وأحدث { $number } من التعليقات. كرّر ذلك للباقي.
customer-remove-mail = لا يُرسَل البريد عن هذه النصوص الذي لم يُرسَل بعد.
customer-remove-undo = يمكنك التراجع عن ذلك خلال 30 يومًا. بعدها تُحذف النصوص.
customer-block = حظر
customer-unblock = رفع الحظر
customer-block-hint = لا يكون عندها لما يفعله هذا الشخص في البوابة أي أثر: تظهر الصفحات نفسها لكن لا يصل بريد. وتنتهي كل الجلسات. وتبقى الأصوات التي يضيفها الفريق محسوبة.
customer-blocked-since = محظور منذ
customer-blocked-mail = لا يصل هذا العميل بريد ما دام محظورًا.
customer-block-member = هذا عضو في الفريق. أزل العضو أولًا.
customers-only-blocked = المحظورون فقط
badge-blocked = محظور
badge-removed = مُزال
undo = تراجع
done-customer-blocked = حُظر العميل.
done-customer-unblocked = لم يعد العميل محظورًا.
done-texts-removed = { $count ->
    [one] أُزيل نص واحد.
    [two] أُزيل نصان.
    [few] أُزيلت { $number } نصوص.
    [many] أُزيل { $number } نصًا.
   *[other] أُزيل { $number } نص.
}
done-texts-restored = { $count ->
    [one] استُعيد نص واحد.
    [two] استُعيد نصان.
    [few] استُعيدت { $number } نصوص.
    [many] استُعيد { $number } نصًا.
   *[other] استُعيد { $number } نص.
}
action-customer-block = حظر عميل
action-customer-unblock = رفع الحظر عن عميل
action-customer-remove-texts = إزالة نصوص عميل
action-customer-restore-texts = استعادة نصوص عميل
customer-no-comments = لا تعليق منشورًا لهذا العميل.
member-demote-title = هل لم يعد { $name } مديرًا؟
member-demote-text = يعمل هذا العضو عندها على الطلبات والعملاء، لا على الإعدادات والأعضاء ومفاتيح API. وتنتهي كل الجلسات.
member-keys = أنشأ هذا العضو مفاتيح API صالحة. وتبقى صالحة ما لم تُلغَ:
member-revoke-keys = إلغاؤها أيضًا

# بيانات العميل ومحوه.
customer-download = تنزيل البيانات
customer-erase = محو العميل
customer-erase-title = هل تريد محو { $name }؟
customer-erase-goes = يُحذف ما يلي مهما كان اختيارك أدناه:
customer-erase-person = الاسم والعنوان والإعدادات والاشتراكات والبريد والجلسات
customer-erase-waiting = ما ينتظر الموافقة والنصوص المُزالة
customer-erase-mentions = نصوص فيها الاسم أو العنوان
customer-erase-no-mentions = لا توجد.
customer-erase-mentions-stay = تبقى هذه كما هي، فعدّلها أو احذفها بنفسك إن وجب أن يختفي الاسم. أما نصوص العميل فتُحذف مع «إزالة النصوص».
customer-erase-more-mentions = { $count ->
    [zero] لا غيرها. الأمر roadmap customer erase --dry-run يعرضها كلها.
    [one] وواحد آخر. الأمر roadmap customer erase --dry-run يعرضها كلها.
    [two] واثنان آخران. الأمر roadmap customer erase --dry-run يعرضها كلها.
    [few] و{ $number } أخرى. الأمر roadmap customer erase --dry-run يعرضها كلها.
    [many] و{ $number } أخرى. الأمر roadmap customer erase --dry-run يعرضها كلها.
   *[other] و{ $number } أخرى. الأمر roadmap customer erase --dry-run يعرضها كلها.
}
customer-erase-final = لا يمكن التراجع عن ذلك. تحتفظ النسخ الاحتياطية وملفات التصدير السابقة بالعميل إلى أن تحذفها.
keep-votes = الإبقاء على الأصوات
remove-votes = إزالة الأصوات
customer-erase-keep-votes = تُحسب كما كانت من دون العميل.
customer-erase-remove-votes = تُحذف ويُعاد العدّ.
customer-erase-keep-texts = تبقى من دون اسم.
customer-erase-remove-texts = تُحذف التعليقات والطلبات التي لم يشارك فيها غيره. أما الطلبات الأخرى فتفقد العنوان والوصف.
done-customer-erased = مُحي العميل.

# عمليات التصدير.
exports-lead = كل ما في مساحة العمل هذه في ملف zip واحد: الطلبات والأصوات والتعليقات وسجل التغييرات والأشخاص والملفات. يمكن لتثبيت آخر استيراده، وتفتح برامج الجداول جداوله.
exports-list = عمليات التصدير
exports-none = لا يوجد تصدير.
exports-kept = يُحذف كل تصدير بعد 24 ساعة من إنشائه، أو قبل ذلك إذا مُحي عميل قد يكون فيه.
export-create-title = إنشاء تصدير جديد
export-create = إنشاء تصدير
export-without-people = بدون أشخاص
export-without-people-hint = تُستبعد الأسماء والعناوين والملاحظات الخاصة. تبقى كل الأعداد. لا يُبحث عن الأسماء في النصوص.
export-without-notes = بدون ملاحظات خاصة
export-time = الوقت
export-size = الحجم
export-state = الحالة
export-file = الملف
export-running = قيد التنفيذ
export-done = مكتمل
export-failed = فشل
export-download = تنزيل التصدير
export-refresh = تحديث
export-running-already = هناك تصدير قيد التنفيذ. يمكنك إنشاء تصدير آخر عند اكتماله.
done-export-created = تجري كتابة التصدير. قد يستغرق ذلك بضع دقائق.
size-kb = { $number } كيلوبايت
size-mb = { $number } ميغابايت

done-link-source-added-before = أُرسل هذا النموذج مرتين. أُضيف مصدر الروابط مرة واحدة وعُرض سره مرة واحدة. إن لم تنسخه فاحذف المصدر وأضفه من جديد.
done-link-source-deleted = تم حذف مصدر الروابط.

link-sources-lead = أنظمة تتبع المهام التي تُبلغ عما تغلقه. عندئذ تعرض روابط الطلبات العناوين والحالات، وتنتقل الطلبات حين يُنجز ما تنتظره.
link-sources-list = الأنظمة المتصلة
link-sources-none = لم يتصل أي نظام بعد.
link-sources-full = هناك 20 مصدرًا بالفعل. احذف أحدها قبل إضافة آخر.
link-source-kind = النوع
link-source-secret = السر
link-source-secret-hint = من 16 إلى 255 حرفًا. اتركه فارغًا ليُنشأ تلقائيًا.
link-source-secret-problem = يجب أن يتكون السر من 16 إلى 255 حرفًا.
link-source-secret-once = يُعرض هذه المرة فقط. يمكنك تحديد سر جديد عبر API.
link-source-name-hint = يظهر في عمليات النقل وفي سجل التدقيق.
link-source-track = النقل إلى مرحلة
link-source-track-hint = حين تُغلق آخر مهمة مفتوحة لطلب على أنها منجزة، ينتقل الطلب إلى هناك.
link-source-no-track = بلا نقل
link-source-mail = مراسلة المصوتين
link-source-mail-hint = يتلقى كل المشتركين رسالة عن الحالة الجديدة.
link-source-notifies = مع رسالة
link-source-disabled = معطل
link-source-received = آخر بلاغ
link-source-received-never = لا شيء بعد
link-source-add-title = توصيل نظام
link-source-add = إضافة مصدر روابط
link-source-address = العنوان
link-source-address-hint = يرسل النظام إشعاراته (webhooks) إلى هنا.
link-source-created-title = تمت إضافة { $name }
link-source-created-notice = تمت إضافة مصدر الروابط. أدخل الآن العنوان والسر في نظام تتبع المهام.
link-source-copied = نسختُ كليهما
link-source-steps-github = على GitHub افتح إعدادات المستودع أو المؤسسة، ثم Webhooks ثم Add webhook. ألصق العنوان في Payload URL، واختر نوع المحتوى application/json، وألصق السر، واختر الأحداث Issues وPull requests.
link-source-steps-gitlab = في GitLab افتح إعدادات المشروع أو المجموعة، ثم Webhooks ثم Add new webhook. ألصق العنوان في URL والسر في Secret token، واختر Issues events وMerge request events.
link-source-steps-jira = في Jira افتح إعدادات النظام، ثم WebHooks ثم Create a WebHook. ألصق العنوان في URL وألصق السر، واختر created وupdated وdeleted للمهام.
link-source-steps-linear = في Linear افتح إعدادات API، ثم Webhooks ثم New webhook. ألصق العنوان في URL واختر Issues. ينشئ Linear سره بنفسه: أعطه لهذا المصدر عبر API.
link-source-delete = حذف
link-source-delete-of = حذف { $name }
link-source-delete-title = حذف { $name }؟
link-source-delete-text = تُرفض بلاغاته بعد ذلك. وتحتفظ الروابط بعناوينها وحالاتها.

done-webhook-created = تم إنشاء خطاف الويب. أرسل حدثًا تجريبيًا لترى إن كان يعمل.
done-webhook-created-before = أُرسل هذا النموذج مرتين. أُنشئ خطاف الويب مرة واحدة وعُرض سره مرة واحدة. إن لم تنسخه فبدّل السر.
done-webhook-rotated-before = أُرسل هذا النموذج مرتين. بُدّل السر مرة واحدة وعُرض الجديد مرة واحدة. إن لم تنسخه فبدّله من جديد.
done-webhook-saved = تم حفظ خطاف الويب.
done-webhook-tested = الحدث التجريبي في الطريق، وهو الأول في قائمة التسليمات. أعد تحميل هذه الصفحة لترى ما جرى له.
done-webhook-enabled = خطاف الويب مفعّل.
done-webhook-disabled = خطاف الويب معطّل. لا يُرسل إليه شيء ولا تُسجَّل له أحداث.
done-webhook-deleted = تم حذف خطاف الويب.
done-webhook-redelivered = { $count ->
    [zero] لا يُعاد إرسال شيء.
    [one] يُعاد إرسال تسليم واحد.
    [two] يُعاد إرسال تسليمين.
    [few] يُعاد إرسال { $number } تسليمات.
    [many] يُعاد إرسال { $number } تسليمًا.
   *[other] يُعاد إرسال { $number } تسليم.
}
done-webhook-none-failed = لا يُعاد إرسال شيء: لم يفشل أي تسليم في آخر 30 يومًا.
done-delivery-redelivered = يُعاد إرسال الحدث.

# خطاطيف الويب.
webhooks-lead = تعرف برامجك وخدمات المحادثة فورًا ما يجري هنا: يُرسل كل حدث إلى العناوين التالية.
webhooks-list = إلى أين تُرسل الأحداث
webhooks-none = لم يُنشأ أي خطاف ويب بعد.
webhooks-full = هناك 10 خطاطيف ويب بالفعل. احذف أحدها قبل إنشاء آخر.
webhook-unreadable = تتعذّر قراءة العنوان. أدخله من جديد.
webhook-state = الحالة
webhook-enabled = مفعّل
webhook-failing-since = يفشل منذ
webhook-disabled-operator = عطّله الفريق
webhook-disabled-gone = معطّل: لم يعد العنوان موجودًا
webhook-disabled-failing = معطّل: فشل لمدة طويلة
webhook-gone-notice = عطّلت الخدمة خطاف الويب هذا: أجاب الخادم بـ 410 Gone، فلم يعد هذا العنوان يقبل الأحداث.
webhook-failing-notice = عطّلت الخدمة خطاف الويب هذا لأنه تعذّر تسليم أي حدث لمدة طويلة.
webhook-disabled-effect = لا تُسجَّل له أحداث حتى يفعّله أحد من جديد.
webhook-create-title = إنشاء خطاف ويب
webhook-create = إنشاء خطاف الويب
field-webhook-url = العنوان (URL)
webhook-url-hint = عنوان https على الإنترنت. لخدمة محادثة ألصق العنوان الذي تعطيك إياه للخطاطيف الواردة.
webhook-url-waiting = يُرسل ما ينتظر إلى العنوان الجديد.
webhook-url-kept = هذا العنوان بمثابة كلمة مرور، لذلك لا يُعرض كاملًا. اترك الحقل فارغًا ليبقى كما هو. يُرسل ما ينتظر إلى العنوان الجديد.
webhook-url-https = هذا ليس عنوانًا لخطاف ويب. يجب أن يبدأ بـ https:// من دون اسم أو كلمة مرور أو جزء (#).
webhook-url-local = لا يمكن أن تؤدي خطاطيف الويب إلى عناوين محلية أو محجوزة، ولا إلى هذه الخدمة نفسها.
webhook-url-port = يمكن لخطاطيف الويب استخدام المنفذين 80 و443 والمنافذ فوق 1023.
webhook-description-hint = لفريقك، حتى تعرفه لاحقًا.
field-format = الصيغة
webhook-format-standard = قياسية (موقّعة)
webhook-format-hint = JSON لبرامجك أو رسائل لخدمة محادثة. تصلح Slack أيضًا لـ Mattermost وRocket.Chat. لا يمكن تغيير الصيغة لاحقًا.
field-events = الأحداث
webhook-events-hint = إن لم تختر شيئًا أُرسلت كل الأحداث، ومنها أنواع تُضاف لاحقًا. لا تتلقى خدمات المحادثة إلا رسائل عن الطلبات الجديدة والمنقولة والتعليقات الجديدة وسجلات التغيير المنشورة.
webhook-events-problem = لا تضم هذه الصيغة كل هذه الأحداث. لا تتلقى خدمات المحادثة إلا feature_request.created وfeature_request.moved وcomment.created وchangelog.published.
webhook-event-request-created = قدّم أحدهم طلبًا جديدًا.
webhook-event-request-updated = تغيّر العنوان أو الوصف أو الوسوم أو الظهور.
webhook-event-request-moved = انتقل الطلب إلى مرحلة أخرى.
webhook-event-request-merged = دُمج فيه طلب آخر.
webhook-event-request-unmerged = تم التراجع عن دمج.
webhook-event-request-deleted = حُذف الطلب.
webhook-event-vote-created = صوّت عميل.
webhook-event-vote-removed = أُزيل صوت.
webhook-event-comment-created = تعليق أصبح عامًا.
webhook-event-comment-updated = عُدّل تعليق.
webhook-event-comment-deleted = حُذف تعليق.
webhook-event-note-created = كتب الفريق ملاحظة خاصة. لا تُرسل إلا إذا شمل خطاف الويب ما هو خاص.
webhook-event-changelog-published = سجل تغيير أصبح عامًا.
webhook-event-changelog-unpublished = سجل تغيير لم يعد عامًا.
webhook-private = تضمين الطلبات والملاحظات الخاصة
webhook-private-hint = وإلا فلا يُرسل شيء عنها.
webhook-emails = تضمين عناوين البريد الإلكتروني
webhook-emails-hint = عناوين العملاء والأعضاء بجانب أسمائهم. لا تحتوي رسائل المحادثة عليها أبدًا.
webhook-secret = السر
webhook-secret-title = سر { $name }
webhook-created-notice = تم إنشاء خطاف الويب. انسخ سره الآن: لن يُعرض إلا هذه المرة.
webhook-rotated-notice = تم تبديل السر. انسخ الجديد الآن: لن يُعرض إلا هذه المرة.
webhook-secret-hint = به يتحقق برنامجك من أن الطلبات تأتي من هنا ولم تُغيَّر (Standard Webhooks، الترويسة webhook-signature). احفظه كما تحفظ كلمة المرور.
webhook-copied = نسخت السر
webhook-created = أُنشئ
webhook-older-secret = يوقّع سر أقدم حتى
webhook-test = إرسال حدث تجريبي
webhook-enable = تفعيل
webhook-disable = تعطيل
webhook-change-title = تغيير خطاف الويب
webhook-overlap = ينتهي السر القديم
webhook-overlap-hint = حتى ذلك الحين تُوقَّع الطلبات بالسرين معًا، ليكون أمام برنامجك وقت للانتقال إلى الجديد.
webhook-overlap-missing = اختر متى ينتهي السر القديم.
webhook-rotate = تبديل السر
webhook-rotated-at-once = لم يعد السر القديم يوقّع.
webhook-rotated-hour = يبقى السر القديم يوقّع لساعة واحدة.
webhook-rotated-day = يبقى السر القديم يوقّع ليوم واحد.
webhook-rotated-week = يبقى السر القديم يوقّع لمدة 7 أيام.
webhook-delete = حذف خطاف الويب
webhook-delete-title = حذف { $name }؟
webhook-delete-text = لا يُرسل إليه شيء بعد ذلك، وتُحذف قائمة تسليماته. لا يمكن التراجع عن ذلك. يمكنك تعطيله بدلًا من حذفه.
webhook-deliveries = التسليمات
webhook-redeliver-failed = إعادة تسليم ما فشل
webhook-redeliver-hint = تُرسل من جديد كل التسليمات الفاشلة في آخر 30 يومًا، ما عدا الأحداث التجريبية.
webhook-enable-first = فعّل خطاف الويب قبل أن تعيد إرسال أي شيء.
deliveries-filter = ما يُعرض من التسليمات
deliveries-all = الكل
deliveries-waiting = المنتظرة
deliveries-delivered = المسلَّمة
deliveries-failed = الفاشلة
deliveries-none = لا يوجد شيء. تُحفظ التسليمات 30 يومًا.
delivery-title = تسليم { $name }
delivery-id = المعرّف
delivery-time = الوقت
delivery-type = النوع
delivery-tries = المحاولات
delivery-answer = آخر رد
delivery-no-answer = لا محاولة بعد
delivery-waiting = بانتظار الإرسال
delivery-delivered = سُلّم
delivery-gave-up = فشل: فشلت كل المحاولات
delivery-blocked = فشل: يؤدي المضيف إلى عنوان محظور
delivery-gone = فشل: لم يعد العنوان موجودًا
delivery-disabled = فشل: عُطّل خطاف الويب
delivery-backlog = فشل: كان هناك عدد كبير من الأحدث بانتظار الإرسال
delivery-redeliver = إعادة التسليم
delivery-attempts = تفاصيل المحاولات
delivery-body = المحتوى المرسَل
delivery-no-body = لا يُرسل شيء من هذا الحدث إلى خطاف الويب هذا.
attempt-http-status = الحالة
attempt-error = الخطأ
attempt-duration = المدة
attempt-duration-ms = { $number } مللي ثانية
attempt-response = الرد
attempt-none = لا يوجد
attempt-status = الحالة لا تدل على النجاح
attempt-timeout = لا رد في الوقت المحدد
attempt-unreachable = تعذّر الوصول إلى الخادم
attempt-tls = لا اتصال آمن
attempt-blocked = عنوان محظور
