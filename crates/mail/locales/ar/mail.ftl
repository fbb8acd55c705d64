# التعليقات
comment-subject = أجاب { $name }: { $title }
comment-subject-customer = علّق { $name }: { $title }
comment-subject-unnamed = علّق أحد العملاء: { $title }
comment-lead = أجاب { $name } من { $product } عن طلب صوّتَّ له أو تتابعه:
comment-lead-team = أجاب فريق { $product } عن طلب صوّتَّ له أو تتابعه:
comment-lead-customer = علّق { $name } على طلب صوّتَّ له أو تتابعه:
comment-lead-unnamed = علّق أحد العملاء على طلب صوّتَّ له أو تتابعه:

# تغيّر الحالة
status-subject = { $status }: { $title }
status-subject-none = لم يعد في خارطة الطريق: { $title }
status-lead = نقل فريق { $product } طلبًا صوّتَّ له أو تتابعه إلى «{ $status }»:
status-lead-none = أزال فريق { $product } طلبًا صوّتَّ له أو تتابعه من خارطة الطريق:

# الدمج
merge-subject = دُمج: { $title }
merge-lead = دمج { $product } «{ $source }»، الذي صوّتَّ له أو تتابعه، في طلب يقول الشيء نفسه. صوتك يُحسب هناك الآن:

# سجل التغييرات
changelog-subject = جديد: { $title }
changelog-lead = لدى { $product } جديد عمّا صوّتَّ له أو تتابعه:
news-lead = جديد { $product }:

# كاتب النص
author = { $name } من { $product }
author-unnamed = أحد العملاء

# الأزرار
open-request = فتح الطلب
open-changelog = فتح سجل التغييرات
whole-comment = قراءة التعليق كاملًا
whole-changelog = قراءة سجل التغييرات كاملًا

# الملخّصات
digest-subject = { $count ->
    [zero] لا مستجدات من { $product }
    [one] مستجد واحد من { $product }
    [two] مستجدان من { $product }
    [few] { $count } مستجدات من { $product }
    [many] { $count } مستجدًا من { $product }
   *[other] { $count } مستجد من { $product }
}
digest-lead = { $count ->
    [zero] لا مستجدات عمّا صوّتَّ له أو تتابعه:
    [one] هناك مستجد واحد عمّا صوّتَّ له أو تتابعه:
    [two] هناك مستجدان عمّا صوّتَّ له أو تتابعه:
    [few] هناك { $count } مستجدات عمّا صوّتَّ له أو تتابعه:
    [many] هناك { $count } مستجدًا عمّا صوّتَّ له أو تتابعه:
   *[other] هناك { $count } مستجد عمّا صوّتَّ له أو تتابعه:
}
digest-comment = أجاب { $name }
digest-comment-customer = علّق { $name }
digest-comment-unnamed = علّق أحد العملاء
digest-status = الآن: { $status }
digest-status-none = لم يعد في خارطة الطريق
digest-merge = دُمج مع ما صوّتَّ له أو تتابعه
digest-changelog = جديد
digest-more = { $count ->
    [zero] ولا مزيد
    [one] وواحد آخر
    [two] واثنان آخران
    [few] و{ $count } أخرى
    [many] و{ $count } آخر
   *[other] و{ $count } آخر
}

# رسائل الفريق
team-lead = الجديد في { $product } منذ الرسالة الأخيرة:
team-requests = { $count ->
    [zero] لا طلبات جديدة
    [one] طلب جديد واحد
    [two] طلبان جديدان
    [few] { $count } طلبات جديدة
    [many] { $count } طلبًا جديدًا
   *[other] { $count } طلب جديد
}
team-replies = { $count ->
    [zero] لا تعليقات جديدة
    [one] تعليق جديد واحد
    [two] تعليقان جديدان
    [few] { $count } تعليقات جديدة
    [many] { $count } تعليقًا جديدًا
   *[other] { $count } تعليق جديد
}
team-awaiting = بانتظار الموافقة
open-inbox = فتح صندوق الوارد
team-settings = اختيار الرسائل التي تصلك

# تسجيل الدخول
sign-in-subject = { $title } (الرمز { $beginning }…)
sign-in-title = تسجيل الدخول إلى { $product }
confirm-vote = أكّد تصويتك لـ«{ $title }»
confirm-remove-vote = أكّد سحب تصويتك لـ«{ $title }»
confirm-comment = أكّد تعليقك على «{ $title }»
confirm-submit = أكّد فكرتك لـ{ $product }
confirm-subscribe = أكّد متابعتك لـ«{ $title }»
confirm-unsubscribe = أكّد إيقاف متابعتك لـ«{ $title }»
confirm-news = أكّد أنك تريد رسائل عن مستجدات { $product }
sign-in-code = أو اكتب هذا الرمز حيث طلبت هذه الرسالة:
sign-in-link = افتح هذا الرابط:
sign-in-validity = كلاهما صالح لمدة { $minutes } دقيقة ولتسجيل دخول واحد.
sign-in-origin = طُلبت من { $browser } في { $at }.
sign-in-origin-unknown = طُلبت في { $at }.
sign-in-ignore = إذا لم تطلب هذه الرسالة فتجاهلها: لن يحدث شيء.
invitation-title = أنت ضمن فريق { $product }
invitation-link = افتح هذا الرابط لتسجيل الدخول:
invitation-validity = هو صالح لمدة { $minutes } دقيقة ولتسجيل دخول واحد.
invitation-again = اطلب رابطًا جديدًا هنا:
invitation-ignore = إذا كان هذا خطأً فتجاهل هذه الرسالة: لن يحدث شيء.

# خطاطيف الويب المعطّلة
webhook-disabled = عُطّل خطاف ويب: { $host }
webhook-gone = أجاب الخادم بـ«410 Gone»: لم يعد هذا العنوان يستقبل الأحداث.
webhook-failing = لم يمكن تسليم أي حدث منذ { $since }.
webhook-failing-long = لم يمكن تسليم أي حدث منذ مدة طويلة.
webhook-status = كانت حالة الرد الأخير { $status }.
webhook-response = كانت حالة الرد الأخير { $status } ويبدأ بما يلي:
webhook-timeout = لم تحصل المحاولة الأخيرة على رد في الوقت المحدد.
webhook-unreachable = لم تصل المحاولة الأخيرة إلى الخادم.
webhook-tls = فشلت المحاولة الأخيرة لتعذّر إنشاء اتصال آمن.
webhook-blocked = لم تُجرَ المحاولة الأخيرة لأن المضيف يقود إلى عنوان محظور.
webhook-effect = لا تُسجَّل له أحداث حتى يعيد أحدهم تفعيله.
open-webhook = فتح خطاف الويب

# رسالة الاختبار
test-subject = اختبار البريد الصادر من { $product }
test-title = البريد يعمل
test-text = أُدرجت هذه الرسالة عبر «roadmap mail test» لأجل { $url } وأرسلها عامل. وقد وصلت، فالبريد يعمل.
test-reason = تصلك هذه الرسالة لأن أحد المشغّلين يختبر البريد الصادر.

# التذييل
reason-request = تصلك هذه الرسالة من { $product } لأنك صوّتَّ لهذا الطلب أو تتابعه.
reason-changelog = تصلك هذه الرسالة من { $product } لأنك صوّتَّ لطلب تتحدث عنه أو تتابعه.
reason-news = تصلك هذه الرسالة لأنك طلبت رسائل عن مستجدات { $product }.
reason-digest = تصلك هذه الرسالة من { $product } لأنك صوّتَّ لهذه الطلبات أو تتابعها.
reason-team = تصلك هذه الرسالة لأنك ضمن فريق { $product }.
reason-admin = تصلك هذه الرسالة لأنك أحد مشرفي { $product }.
stop-request = إيقاف الرسائل عن هذا الطلب
stop-changelogs = إيقاف رسائل المستجدات
stop-news = إيقاف رسائل المستجدات كلها
stop-all = إيقاف كل الرسائل
stop-team = إيقاف هذه الرسائل
