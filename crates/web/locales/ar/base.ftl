# إطار جميع الصفحات ورسائل الأخطاء.
skip-to-content = انتقل إلى المحتوى
request-failed = لم يصلنا ذلك. يرجى المحاولة مرة أخرى.
nav-main = التنقل الرئيسي
nav-roadmap = خارطة الطريق
nav-requests = طلبات الميزات
    .ideas = الأفكار
nav-changelog = سجل التغييرات
nav-account = حسابك
nav-sign-in = تسجيل الدخول
sign-out = تسجيل الخروج
theme = المظهر
theme-system = حسب النظام
theme-light = فاتح
theme-dark = داكن
shown-in = اللغة
apply-preferences = حفظ
back-to-roadmap = إلى خارطة الطريق

field-email = عنوان البريد الإلكتروني
field-title = العنوان
field-description = الوصف
field-content = التعليق
field-name = الاسم
field-language = اللغة
field-code = الرمز

error-title = خطأ: { $name }
error-prefix = خطأ:
problem-heading = هناك مشكلة
problem-missing = حقل «{ $field }» فارغ. يرجى ملؤه.
problem-too-long = حقل «{ $field }» طويل جدًا. الحد الأقصى { $max } حرفًا.
problem-email = هذا ليس عنوان بريد إلكتروني. يجب أن يكون مثل name@example.com.
problem-markup = حقل «{ $field }» فيه تنسيق كثير. يرجى تبسيطه.
problem-invalid = حقل «{ $field }» فيه أحرف أو صيغة لا يمكن حفظها.

date = { $day } { $month } { $year }
date-short = { $day } { $month }
date-time = { $date }، { $time }
month-1 = يناير
month-2 = فبراير
month-3 = مارس
month-4 = أبريل
month-5 = مايو
month-6 = يونيو
month-7 = يوليو
month-8 = أغسطس
month-9 = سبتمبر
month-10 = أكتوبر
month-11 = نوفمبر
month-12 = ديسمبر
month-short-1 = يناير
month-short-2 = فبراير
month-short-3 = مارس
month-short-4 = أبريل
month-short-5 = مايو
month-short-6 = يونيو
month-short-7 = يوليو
month-short-8 = أغسطس
month-short-9 = سبتمبر
month-short-10 = أكتوبر
month-short-11 = نوفمبر
month-short-12 = ديسمبر

not-found-title = هذه الصفحة غير موجودة
not-found-text = ربما كُتب العنوان خطأً، أو أُزيل ما كان هنا.
no-workspace-title = لا توجد مساحة عمل بعد
no-workspace-text = الخدمة تعمل. ينشئ مشغّلها أول مساحة عمل بهذين الأمرين. يطبع الأمر الثاني رابطًا إلى لوحة الإدارة.
forbidden-title = لا يمكنك رؤية هذه الصفحة
forbidden-text = سجّلت الدخول بعنوان ليس له صلاحية هنا. سجّل الخروج واستخدم عنوانًا آخر، أو اسأل الفريق.
origin-title = جاء هذا النموذج من مكان آخر
origin-text = يقول متصفحك إن موقعًا آخر أرسل هذا النموذج، لذلك لم يتغير شيء. افتح الصفحة من جديد وحاول مرة أخرى. إذا تكرر ذلك فعنوان الخدمة مضبوط خطأً: يمكن لمشغّلها تنفيذ «roadmap doctor».
too-many-title = كان ذلك كثيرًا دفعة واحدة
too-many-text = توجد حدود لمنع الرسائل المزعجة. يرجى الانتظار بضع دقائق ثم المحاولة مرة أخرى.
long-address-title = هذا العنوان طويل جدًا
long-address-text = لا توجد صفحة بعنوان بهذا الطول. يرجى تقصير ما يأتي بعد علامة الاستفهام.
too-many-minutes = { $count ->
    [zero] توجد حدود لمنع الرسائل المزعجة. يرجى المحاولة مرة أخرى بعد دقيقة.
    [one] توجد حدود لمنع الرسائل المزعجة. يرجى المحاولة مرة أخرى بعد دقيقة.
    [two] توجد حدود لمنع الرسائل المزعجة. يرجى المحاولة مرة أخرى بعد دقيقتين.
    [few] توجد حدود لمنع الرسائل المزعجة. يرجى المحاولة مرة أخرى بعد { $number } دقائق.
    [many] توجد حدود لمنع الرسائل المزعجة. يرجى المحاولة مرة أخرى بعد { $number } دقيقة.
   *[other] توجد حدود لمنع الرسائل المزعجة. يرجى المحاولة مرة أخرى بعد { $number } دقيقة.
}
too-many-hours = { $count ->
    [zero] توجد حدود لمنع الرسائل المزعجة. يرجى المحاولة مرة أخرى بعد ساعة.
    [one] توجد حدود لمنع الرسائل المزعجة. يرجى المحاولة مرة أخرى بعد ساعة.
    [two] توجد حدود لمنع الرسائل المزعجة. يرجى المحاولة مرة أخرى بعد ساعتين.
    [few] توجد حدود لمنع الرسائل المزعجة. يرجى المحاولة مرة أخرى بعد { $number } ساعات.
    [many] توجد حدود لمنع الرسائل المزعجة. يرجى المحاولة مرة أخرى بعد { $number } ساعة.
   *[other] توجد حدود لمنع الرسائل المزعجة. يرجى المحاولة مرة أخرى بعد { $number } ساعة.
}
too-large-title = هذا طويل جدًا
too-large-text = ما أرسلته أكبر مما يسعه النموذج. يرجى الرجوع وتقصيره.
unavailable-title = هناك شيء لا يعمل
unavailable-text = الخطأ منا وليس منك. يرجى المحاولة بعد دقيقة.
bad-request-title = لم ينجح ذلك
bad-request-text = أرسل متصفحك شيئًا غير مفهوم. يرجى الرجوع والمحاولة مرة أخرى.
