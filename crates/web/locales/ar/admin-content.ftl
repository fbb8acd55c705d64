# سجل التغييرات والمراحل والمسارات والإعدادات.
done-changelog-saved = تم حفظ سجل التغيير.
done-changelog-published = تم نشر سجل التغيير.
done-changelog-mailed = { $count ->
    [0] تم نشر سجل التغيير. لم يكن هناك من يصله بريد.
    [zero] تم نشر سجل التغيير. لم يكن هناك من يصله بريد.
    [one] تم نشر سجل التغيير، وسيصل بريد إلى شخص واحد.
    [two] تم نشر سجل التغيير، وسيصل بريد إلى شخصين.
    [few] تم نشر سجل التغيير، وسيصل بريد إلى { $number } أشخاص.
    [many] تم نشر سجل التغيير، وسيصل بريد إلى { $number } شخصًا.
   *[other] تم نشر سجل التغيير، وسيصل بريد إلى { $number } شخص.
}
done-changelog-scheduled = سيُنشر سجل التغيير في الوقت الذي اخترته.
done-changelog-unpublished = عاد سجل التغيير مسودة.
done-changelog-deleted = تم حذف سجل التغيير.
done-track-added = تمت إضافة المرحلة.
done-track-saved = تم حفظ المرحلة.
done-track-deleted = تم حذف المرحلة.
done-lane-added = تمت إضافة المسار.
done-lane-saved = تم حفظ المسار.
done-lane-deleted = تم حذف المسار.
done-tag-saved = { $count ->
    [zero] لم يتغير اسم الوسم في أي طلب.
    [one] تغيّر اسم الوسم في طلب واحد.
    [two] تغيّر اسم الوسم في طلبين.
    [few] تغيّر اسم الوسم في { $number } طلبات.
    [many] تغيّر اسم الوسم في { $number } طلبًا.
   *[other] تغيّر اسم الوسم في { $number } طلب.
}
done-tag-merged = { $count ->
    [zero] صار الوسمان وسمًا واحدًا.
    [one] صار الوسمان وسمًا واحدًا. تغيّر طلب واحد.
    [two] صار الوسمان وسمًا واحدًا. تغيّر طلبان.
    [few] صار الوسمان وسمًا واحدًا. تغيّرت { $number } طلبات.
    [many] صار الوسمان وسمًا واحدًا. تغيّر { $number } طلبًا.
   *[other] صار الوسمان وسمًا واحدًا. تغيّر { $number } طلب.
}
done-tag-deleted = { $count ->
    [zero] لم يُزَل الوسم من أي طلب.
    [one] أُزيل الوسم من طلب واحد.
    [two] أُزيل الوسم من طلبين.
    [few] أُزيل الوسم من { $number } طلبات.
    [many] أُزيل الوسم من { $number } طلبًا.
   *[other] أُزيل الوسم من { $number } طلب.
}
done-settings-saved = تم حفظ الإعدادات.

# سجل التغييرات.
changelogs-lead = الجديد. ويمكن أن يصل بريد عنه إلى من طلبوه.
changelogs-none-title = لا يوجد سجل تغيير بعد
changelogs-none-text = حين يكتمل شيء فاكتبه هنا، وأخبر من صوّتوا له.
changelog-new = سجل تغيير جديد
changelog-draft = مسودة
changelog-scheduled = مجدول
changelog-published = منشور
changelog-changed-on = آخر تعديل
changelog-public-from = يُنشر في
changelog-public-since = منشور منذ
changelog-see = عرضه في البوابة
times-are-in = الأوقات بحسب المنطقة الزمنية { $name }.
back-to-changelog = إلى سجل التغيير
field-changelog-content = المحتوى
field-linked-query = البحث
changelog-content-hint = يمكن استعمال Markdown: **غامق** وقوائم وروابط.
changelog-html-hint = هذا النص بصيغة HTML لأن Markdown لا تعبّر عن تنسيقه.
changelog-category = الفئة
changelog-category-none = بلا فئة
changelog-cover = صورة الغلاف
changelog-cover-hint = ‏PNG أو JPEG أو WebP أو GIF حتى 5 ميغابايت. الأفضل أن يكون العرض ضعف الارتفاع.
changelog-cover-now = صورة الغلاف الحالية
changelog-cover-remove = إزالة صورة الغلاف
changelog-cover-gone = لا يمكن استعمال هذه الصورة بعد الآن. اخترها مرة أخرى.
changelog-linked = الطلبات المرتبطة
changelog-linked-none = لا طلبات بعد. ابحث عن الطلبات التي تحققت الآن.
changelog-linked-many = الحد الأقصى للطلبات المرتبطة بسجل التغيير هو { $number }. ألغِ اختيار بعضها.
changelog-linked-gone = أحد الطلبات المرتبطة لم يعد موجودًا، ولم يعد في القائمة. راجع القائمة ثم حاول مرة أخرى.
changelog-find = بحث
changelog-found = الطلبات التي وُجدت
changelog-publishing = النشر
changelog-publish-at = وقت النشر
changelog-publish-at-hint = المنطقة الزمنية { $zone }، والوقت فيها الآن { $now }. مع وقت محدد يجدول زر «حفظ» النشر، وبدونه يبقى مسودة.
done-changelog-scheduled-mail = { $count ->
    [zero] سيُنشر سجل التغيير في الوقت الذي اخترته. لا يتابع أحد موضوعه، فلن تصل رسالة إلى أحد الآن.
    [one] سيُنشر سجل التغيير في الوقت الذي اخترته مع رسالة. ستصل الآن إلى شخص واحد، وترسل إلى من يتابع حينها.
    [two] سيُنشر سجل التغيير في الوقت الذي اخترته مع رسالة. ستصل الآن إلى شخصين، وترسل إلى من يتابع حينها.
    [few] سيُنشر سجل التغيير في الوقت الذي اخترته مع رسالة. ستصل الآن إلى { $number } أشخاص، وترسل إلى من يتابع حينها.
    [many] سيُنشر سجل التغيير في الوقت الذي اخترته مع رسالة. ستصل الآن إلى { $number } شخصًا، وترسل إلى من يتابع حينها.
   *[other] سيُنشر سجل التغيير في الوقت الذي اخترته مع رسالة. ستصل الآن إلى { $number } شخص، وترسل إلى من يتابع حينها.
}
changelog-move-linked = نقل طلبات الميزات المرتبطة إلى { $name }
changelog-move-linked-hint = عند الضغط على «نشر». لا يصل أحدًا بريد عن النقل.
changelog-move-with-time = لا تُنقل طلبات الميزات إلا عند الضغط على «نشر». أزل العلامة أو انشر الآن.
changelog-notify = إرسال بريد إلى المصوّتين للطلبات المرتبطة وإلى كل من يتلقى المستجدات
changelog-people = { $count ->
    [0] لن يصل البريد إلى أحد الآن.
    [zero] لن يصل البريد إلى أحد الآن.
    [one] سيصل إلى شخص واحد.
    [two] سيصل إلى شخصين، مرة لكل منهما.
    [few] سيصل إلى { $number } أشخاص، مرة لكل منهم.
    [many] سيصل إلى { $number } شخصًا، مرة لكل منهم.
   *[other] سيصل إلى { $number } شخص، مرة لكل منهم.
}
changelog-notify-hint = يُرسل البريد مع النشر: حين تضغط «نشر»، أو في الوقت الذي اخترته.
changelog-notify-published-hint = يُرسل البريد حين تضغط «حفظ».
changelog-mailed = وصل البريد بشأنه إلى المصوّتين. لن تصل رسالة ثانية إلى أحد.
changelog-publish = نشر
changelog-unpublish = إلغاء النشر
changelog-delete = حذف سجل التغيير
changelog-delete-title = حذف «{ $name }»؟
changelog-delete-draft = سيُحذف نهائيًا.
changelog-delete-published = سيُحذف نهائيًا، ومن البوابة وخلاصتها أيضًا.
changelog-delete-text = البريد الذي ما زال ينتظر بشأنه لا يُرسل. وتبقى الطلبات المرتبطة.
changelog-time-invalid = هذا ليس وقتًا. يجب أن يكون مثل 2026-03-31T09:00.
changelog-time-past = مضى هذا الوقت. اختر وقتًا لاحقًا، أو أفرغ الحقل واضغط «نشر».
changelog-time-never = تُقدَّم الساعة في { $name } فوق هذا الوقت فلا وجود له. اختر وقتًا آخر.
changelog-time-twice = تُؤخَّر الساعة في { $name } فوق هذا الوقت فيتكرر مرتين. اختر وقتًا آخر.
changelog-time-both = اخترت وقتًا وضغطت «نشر». اضغط «حفظ» للنشر في ذلك الوقت، أو أفرغ الحقل واضغط «نشر» للنشر الآن.
changelog-time-published = هو منشور بالفعل فلا يمكن جدولته. أفرغ الحقل، أو ألغِ النشر أولًا.
mails-used-up = استُنفد بريد اليوم، فلم يُنشر شيء ولم يُرسل شيء. ألغِ هذا الاختيار، أو حاول غدًا.
storage-used-up = استُنفدت مساحة التخزين، فلم يُحفظ شيء. اطلب المزيد من مشغّل الخدمة.
changelog-conflict = حفظ شخص آخر سجل التغيير هذا بعد أن فتحته، فلم تُحفظ تعديلاتك بعد. قارنها بما هو محفوظ الآن. الحفظ التالي يستبدله.
changelog-conflict-by = حفظ { $name } سجل التغيير هذا بعد أن فتحته، فلم تُحفظ تعديلاتك بعد. قارنها بما هو محفوظ الآن. الحفظ التالي يستبدله.
changelog-gone = حذف شخص آخر سجل التغيير هذا بعد أن فتحته. ما كتبته ما زال هنا، وزر «حفظ» ينشئ منه سجلًا جديدًا.
stored-now = المحفوظ الآن
stored-nothing = لا شيء
stored-same = هو نفسه ما كتبته.

# المراحل والمسارات.
tracks-lead = بالمراحل يرتّب الفريق الطلبات. المرحلة التي تؤدي إلى مسار تظهر في خارطة الطريق العامة، والأخرى تبقى داخلية.
no-lane = بلا مسار
lanes-none = لا مسارات بعد، لذا فخارطة الطريق فارغة.
track-up = رفع { $name }
track-down = خفض { $name }
track-rename = إعادة تسمية { $name }
track-delete-named = حذف { $name }
lane-up = رفع المسار { $name }
lane-down = خفض المسار { $name }
lane-rename = إعادة تسمية المسار { $name }
lane-delete-named = حذف المسار { $name }
rename = إعادة تسمية
delete = حذف
add-track-heading = إضافة مرحلة
add-track = إضافة المرحلة
add-lane-heading = إضافة مسار
add-lane = إضافة المسار
field-track-name = الاسم
field-track-lane = المسار
field-lane-name = الاسم
track-name-taken = هذا اسم مرحلة أخرى. اختر اسمًا مختلفًا.
lane-name-taken = هذا اسم مسار آخر. اختر اسمًا مختلفًا.
field-lane-name-in = الاسم في صفحات { $name }
lane-name-in-hint = فارغ: الاسم أعلاه.
field-lane-kind = النوع
lane-kind-by-name = بحسب الاسم
lane-kind-considering = قيد الدراسة
lane-kind-planned = مخطط له
lane-kind-started = بدأ العمل
lane-kind-done = تم
lane-kind-declined = مرفوض
lane-kind-other = نوع آخر
lane-kind-unknown = هذا النوع غير موجود. اختر نوعًا آخر.
lane-gone = لم يعد هذا المسار موجودًا. اختر مسارًا آخر.
tracks-preview = خارطة الطريق العامة
tracks-preview-lead = كل مسار مع طلباته الأكثر أصواتًا.
track-title = المرحلة «{ $name }»
track-lane-hint = أين تعرض خارطة الطريق طلبات هذه المرحلة. لا يصل بريد إلى أحد عند التغيير.
lane-title = المسار «{ $name }»
lane-name-hint = يقرأ الزوار هذا الاسم حالةً للطلبات.
back-to-tracks = إلى المراحل
track-delete = حذف المرحلة
track-delete-title = حذف المرحلة «{ $name }»؟
track-delete-count = { $count ->
    [0] لا طلبات فيها.
    [zero] لا طلبات فيها.
    [one] فيها طلب واحد ينتقل إلى مرحلة أخرى.
    [two] فيها طلبان ينتقلان إلى مرحلة أخرى.
    [few] فيها { $number } طلبات تنتقل إلى مرحلة أخرى.
    [many] فيها { $number } طلبًا تنتقل إلى مرحلة أخرى.
   *[other] فيها { $number } طلب تنتقل إلى مرحلة أخرى.
}
track-move-to = نقل طلباتها إلى
track-move-hint = لا يصل بريد إلى أحد بشأن ذلك.
track-target-missing = ما زالت في هذه المرحلة طلبات مدمجة. اختر إلى أين تنتقل.
track-target-gone = لم تعد هذه المرحلة موجودة. اختر مرحلة أخرى.
track-delete-last = هذه آخر مرحلة، وكل طلب يحتاج إلى مرحلة. أضف مرحلة أخرى أولًا.
lane-delete = حذف المسار
lane-delete-title = حذف المسار «{ $name }»؟
lane-delete-none = لا تؤدي إليه أي مرحلة، فلا يتغير شيء آخر.
lane-delete-tracks = تفقد طلبات هذه المراحل حالتها العامة:
lane-delete-stay = تبقى في قائمة البوابة، لكنها لا تظهر في خارطة الطريق بعد ذلك.

# الوسوم.
tags-lead = كلمات يُعثر بها على الطلبات وتُصفّى بها. ما تغيّره هنا يتغير في كل الطلبات التي لها الوسم.
tags-search = البحث عن الوسوم
tags-count = { $count ->
    [zero] لا وسوم
    [one] وسم واحد
    [two] وسمان
    [few] { $number } وسوم
    [many] { $number } وسمًا
   *[other] { $number } وسم
}
tags-all = عرض كل الوسوم
tags-none-title = لا وسوم بعد
tags-none-text = أضف وسومًا إلى الطلبات في الوارد أو عند التعديل، فتظهر هنا.
tags-not-found-title = لم يُعثر على وسم
tags-not-found-text = جرّب جزءًا أقصر من الاسم.
tag-requests = الطلبات
tag-rename = إعادة تسمية { $name }
tag-delete-named = حذف { $name }
tag-rename-title = إعادة تسمية «{ $name }»
tag-rename-count = { $count ->
    [0] لا تحمله إلا طلبات مدمجة.
    [zero] لا تحمله إلا طلبات مدمجة.
    [one] يحمله طلب واحد.
    [two] يحمله طلبان.
    [few] تحمله { $number } طلبات.
    [many] يحمله { $number } طلبًا.
   *[other] يحمله { $number } طلب.
}
field-tag_query = البحث
field-tag-name = الاسم الجديد
tag-name-hint = إن كان لوسم آخر هذا الاسم، تُسأل هل يصير الوسمان وسمًا واحدًا.
tag-merge-title = دمج «{ $from }» في «{ $to }»؟
tag-merge-text = لوسم آخر هذا الاسم. تأخذ طلبات «{ $from }» الوسم «{ $to }» بدلًا منه، وما له الوسمان يبقى له مرة واحدة. لا يمكن التراجع عن ذلك.
tag-merge = دمج الوسمين
tag-delete-title = حذف الوسم «{ $name }»؟
tag-delete-count = { $count ->
    [0] لا تفقده إلا طلبات مدمجة.
    [zero] لا تفقده إلا طلبات مدمجة.
    [one] يفقده طلب واحد.
    [two] يفقده طلبان.
    [few] تفقده { $number } طلبات.
    [many] يفقده { $number } طلبًا.
   *[other] يفقده { $number } طلب.
}
tag-delete-text = تبقى الطلبات. لا يمكن التراجع عن ذلك.
tag-delete = حذف الوسم
tag-too-many = لأكثر من { $number } طلب هذا الوسم، وهذا أكثر من أن يتغير دفعة واحدة. لم يتغير شيء.

# الإعدادات.
field-product_name = اسم المنتج
field-website_url = الموقع
field-synonyms = كلمات بالمعنى نفسه
settings-product = المنتج
settings-product-lead = في أعلى كل صفحة وفي البريد.
settings-website-hint = مع https://.
settings-website-invalid = هذا ليس عنوان موقع. يجب أن يكون مثل https://example.com.
settings-look = المظهر
settings-look-lead = كل لون يصلح. الأزرار بهذا اللون، والروابط والخطوط أفتح أو أغمق حيث يتعذّر تمييزها بدون ذلك.
settings-accent = اللون المميز
settings-accent-default = استعمال اللون الافتراضي
settings-accent-invalid = هذا ليس لونًا. يجب أن يكون مثل #17694f.
settings-show-colours = عرض الألوان
settings-in-light = في الفاتح
settings-in-dark = في الداكن
settings-link = رابط
settings-contrast = الزر { $button } إلى 1، الرابط { $link } إلى 1
settings-logo = الشعار
settings-logo-hint = ‏PNG أو JPEG أو WebP أو GIF حتى 256 كيلوبايت. المربع هو الأفضل.
settings-logo-now = الشعار الحالي
settings-logo-remove = إزالة الشعار
settings-logo-gone = لا يمكن استعمال هذه الصورة بعد الآن. اخترها مرة أخرى.
settings-changed-meanwhile = غيّر شخص آخر هذا بعد أن فتحت الصفحة، فلم يُحفظ شيء بعد. الحفظ التالي يستبدله.
settings-changed-to = غيّر شخص آخر هذا بعد أن فتحت الصفحة، فلم يُحفظ شيء بعد. وهو الآن: { $name }. الحفظ التالي يستبدله.
settings-access-heading = الوصول
settings-access-lead = من يقرأ البوابة.
settings-access = من يمكنه رؤية البوابة
settings-access-public = الجميع
settings-access-public-hint = لا حاجة إلى تسجيل الدخول للقراءة.
settings-access-private = المسجلون بعناوين معينة
settings-access-private-hint = الفريق، ومن عنوانه في أحد نطاقات البريد أدناه.
settings-access-off = الفريق فقط
settings-access-off-hint = لا يدخل أحد سواه.
settings-access-missing = اختر من يمكنه رؤية البوابة.
settings-hidden = مع هذا الاختيار لا يرى الزوار البوابة، ولا يصل شيء إلى الخلاصات والصفحات المضمّنة ومحركات البحث.
settings-domains = نطاقات البريد
settings-domains-hint = نطاق في كل سطر، مثل example.com. من كان عنوانه فيه يرى بوابة المسجلين.
settings-domain-invalid = ‏«{ $name }» ليس نطاق بريد. يجب أن يكون مثل example.com.
settings-too-many = هذه أسطر كثيرة. الحد الأقصى { $number }.
settings-indexed = يُسمح لمحركات البحث بإدراج البوابة
settings-indexed-hint = وإلا طُلب منها الابتعاد.
settings-embedding = التضمين
settings-embedding-lead = أي المواقع يمكنها عرض خارطة الطريق وسجل التغييرات في إطار.
settings-origins = مواقع التضمين
settings-origins-hint = موقع في كل سطر، مثل https://help.example.com، بلا مسار.
settings-origin-invalid = ‏«{ $name }» ليس أصل موقع. يجب أن يكون مثل https://help.example.com.
settings-snippet = ‏HTML لموقعك
settings-snippet-hint = لسجل التغييرات اكتب «changelogs» بدل «roadmap» في العنوان.
settings-languages-heading = اللغات
settings-languages-lead = لغات البوابة وهذه اللوحة والرسائل. يحصل كل قارئ على لغته إن كانت متاحة.
settings-languages = اللغات المتاحة
settings-languages-missing = اختر لغة واحدة على الأقل.
settings-default-language-label = اللغة الافتراضية
settings-default-language-hint = للمتصفحات التي لا تريد أيًا من اللغات المتاحة.
settings-default-language = يجب أن تكون اللغة الافتراضية من اللغات المتاحة.
settings-mail-heading = البريد
settings-reply-to = عنوان الرد
settings-reply-to-hint = تصل الردود على بريد مساحة العمل هذه إلى هذا العنوان. إن تُرك فارغًا وصلت إلى المُرسِل، وغالبًا لا يقرؤه أحد.
settings-reply-to-invalid = لا يمكن إرسال الردود إلى هذا العنوان.
settings-time-zone = المنطقة الزمنية
settings-time-zone-hint = أوقات هذه الصفحات والوقت الذي تنشر فيه.
settings-time-zone-invalid = اختر منطقة زمنية من القائمة.
settings-noun = ما الذي يقدّمه الناس
settings-noun-hint = ما يقرؤه الزوار في كل الصفحات. هذه اللوحة تقول طلبات الميزات.
settings-noun-requests = طلبات الميزات
settings-noun-ideas = أفكار
settings-noun-invalid = اختر واحدًا من الاثنين.
settings-times-heading = الأوقات
settings-moderation-heading = الإشراف
settings-words-heading = كلمات البوابة
settings-words-lead = كلماتك أنت. حيث يكون الحقل فارغًا تستخدم البوابة نصّها.
settings-welcome = نص الترحيب ({ $name })
settings-welcome-hint = أول ما تقوله خارطة الطريق. 300 حرف على الأكثر. يعمل Markdown: **عريض** وروابط.
settings-question = سؤال النموذج ({ $name })
settings-question-hint = ما يسأله نموذج الأفكار. 150 حرفًا على الأكثر.
settings-moderation = أفكار العملاء وتعليقاتهم تنتظر الموافقة
settings-moderation-hint = حتى ذلك الحين لا يراها إلا الفريق وصاحبها، وتنتظر في الوارد.
settings-search-lead = كلماتك الخاصة للبحث في الطلبات.
settings-synonyms-hint = مجموعة في كل سطر، وبين كلماتها فواصل لاتينية: 2fa, two-factor, mfa
settings-synonyms-too-many = هذه أسطر كثيرة. الحد الأقصى { $number } مجموعة.
settings-synonyms-invalid = لا يمكن استعمال السطر { $number }: «{ $name }». في السطر من 2 إلى 8 كلمات أو عبارات بينها فواصل لاتينية. لا تزيد كل منها على 60 حرفًا، وفيها حرف أو رقم، ولا ترد في موضع آخر من القائمة.
