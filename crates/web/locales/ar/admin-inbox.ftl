# الوارد والنظرة العامة.
done-moved = { $count ->
    [zero] لم يُنقل أي طلب.
    [one] نُقل طلب واحد.
    [two] نُقل طلبان.
    [few] نُقلت { $number } طلبات.
    [many] نُقل { $number } طلبًا.
   *[other] نُقل { $number } طلب.
}
done-tagged = { $count ->
    [zero] لم يُوسم أي طلب.
    [one] وُسم طلب واحد.
    [two] وُسم طلبان.
    [few] وُسمت { $number } طلبات.
    [many] وُسم { $number } طلبًا.
   *[other] وُسم { $number } طلب.
}
done-moved-to = { $count ->
    [zero] نُقل { $number } طلب ميزة إلى «{ $name }». لم تصل رسالة إلى أحد.
    [one] نُقل طلب ميزة واحد إلى «{ $name }». لم تصل رسالة إلى أحد.
    [two] نُقل طلبا ميزة إلى «{ $name }». لم تصل رسالة إلى أحد.
    [few] نُقلت { $number } طلبات ميزات إلى «{ $name }». لم تصل رسالة إلى أحد.
    [many] نُقل { $number } طلب ميزة إلى «{ $name }». لم تصل رسالة إلى أحد.
   *[other] نُقل { $number } طلب ميزة إلى «{ $name }». لم تصل رسالة إلى أحد.
}
done-untagged = { $count ->
    [zero] أُزيل الوسم من { $number } طلب ميزة.
    [one] أُزيل الوسم من طلب ميزة واحد.
    [two] أُزيل الوسم من طلبي ميزة.
    [few] أُزيل الوسم من { $number } طلبات ميزات.
    [many] أُزيل الوسم من { $number } طلب ميزة.
   *[other] أُزيل الوسم من { $number } طلب ميزة.
}
done-requests-deleted = { $count ->
    [zero] حُذف { $number } طلب ميزة.
    [one] حُذف طلب ميزة واحد.
    [two] حُذف طلبا ميزة.
    [few] حُذفت { $number } طلبات ميزات.
    [many] حُذف { $number } طلب ميزة.
   *[other] حُذف { $number } طلب ميزة.
}
done-undone = { $count ->
    [zero] تم التراجع عن { $number } تغييرًا.
    [one] تم التراجع عن تغيير واحد.
    [two] تم التراجع عن تغييرين.
    [few] تم التراجع عن { $number } تغييرات.
    [many] تم التراجع عن { $number } تغييرًا.
   *[other] تم التراجع عن { $number } تغييرًا.
}
done-undone-none = لم يُتراجع عن شيء: غيّره أحدهم منذ ذلك الحين.
done-undo-late = لم يعد التراجع عن هذا ممكنًا.
undo-kept = { $count ->
    [zero] بقي { $number } كما هو لأن أحدهم غيّره منذ ذلك الحين.
    [one] بقي واحد كما هو لأن أحدهم غيّره منذ ذلك الحين.
    [two] بقي اثنان كما هما لأن أحدهم غيّرهما منذ ذلك الحين.
    [few] بقيت { $number } كما هي لأن أحدهم غيّرها منذ ذلك الحين.
    [many] بقي { $number } كما هو لأن أحدهم غيّره منذ ذلك الحين.
   *[other] بقي { $number } كما هو لأن أحدهم غيّره منذ ذلك الحين.
}
done-made-private = { $count ->
    [zero] لم يصر أي طلب خاصًا.
    [one] صار طلب واحد خاصًا.
    [two] صار طلبان خاصَّين.
    [few] صارت { $number } طلبات خاصة.
    [many] صار { $number } طلبًا خاصًا.
   *[other] صار { $number } طلب خاصًا.
}
done-made-public = { $count ->
    [zero] لم يصر أي طلب عامًا.
    [one] صار طلب واحد عامًا.
    [two] صار طلبان عامَّين.
    [few] صارت { $number } طلبات عامة.
    [many] صار { $number } طلبًا عامًا.
   *[other] صار { $number } طلب عامًا.
}
done-merged = { $count ->
    [zero] لم يُدمج أي طلب.
    [one] دُمج طلب واحد.
    [two] دُمج طلبان.
    [few] دُمجت { $number } طلبات.
    [many] دُمج { $number } طلبًا.
   *[other] دُمج { $number } طلب.
}
done-requests-approved = { $count ->
    [zero] لم يُعتمد أي طلب.
    [one] اعتُمد طلب واحد.
    [two] اعتُمد طلبان.
    [few] اعتُمدت { $number } طلبات.
    [many] اعتُمد { $number } طلبًا.
   *[other] اعتُمد { $number } طلب.
}
done-requests-declined = { $count ->
    [zero] لم يُرفض أي طلب.
    [one] رُفض طلب واحد ويبقى خاصًا.
    [two] رُفض طلبان ويبقيان خاصَّين.
    [few] رُفضت { $number } طلبات وتبقى خاصة.
    [many] رُفض { $number } طلبًا ويبقى خاصًا.
   *[other] رُفض { $number } طلب ويبقى خاصًا.
}
done-unchanged = لم يكن هناك ما يجب تغييره.
done-shortcuts = تم تشغيل اختصارات لوحة المفاتيح أو إيقافها.

# القائمة.
inbox-new = طلب ميزة جديد
inbox-views = طرق العرض
inbox-unanswered = بلا رد بعد
inbox-merged = مدموجة
inbox-track = المرحلة
inbox-lane = المسار
inbox-all-lanes = كل المسارات
inbox-tag = الوسم
inbox-mine = علّقتُ عليه أو كتبتُ ملاحظة
inbox-fold = عوامل التصفية
inbox-more-filters = عوامل تصفية أخرى
inbox-filter = تصفية
inbox-clear = إزالة التصفية
inbox-request = طلب الميزة
inbox-votes = الأصوات
inbox-companies = الشركات
inbox-sort-companies = الأكثر شركات
inbox-from = من
inbox-asked = التاريخ
inbox-nobody = لا أحد
inbox-select = تحديد
inbox-select-request = تحديد { $name }
inbox-select-all = تحديد كل ما في هذه الصفحة
inbox-merged-into = مدموج في
inbox-unmerge = إلغاء الدمج
inbox-held = { $count ->
    [zero] لا تعليقات تنتظر
    [one] تعليق واحد ينتظر
    [two] تعليقان ينتظران
    [few] { $number } تعليقات تنتظر
    [many] { $number } تعليقًا ينتظر
   *[other] { $number } تعليق ينتظر
}

# ما يُفعل بالصفوف المحددة.
inbox-change = تغيير المحدد
inbox-move-to = نقل إلى { $name }
inbox-apply-to = تطبيق على #
inbox-choose = اختر…
inbox-tick-hint = حدّد صفوفًا أدناه، ثم طبّق.
# يستبدل البرنامج النصي العلامة برقم.
inbox-ticked = المحدد: #
inbox-add-tag = إضافة وسم
inbox-remove-tag = إزالة وسم
inbox-make-private = جعلها خاصة
inbox-make-public = جعلها عامة
inbox-merge = دمج
inbox-delete = حذف
inbox-approve = موافقة
inbox-decline = رفض
inbox-problem-none = لم يُحدَّد شيء. حدّد طلبًا واحدًا على الأقل.
inbox-problem-two = للدمج حدّد طلبين على الأقل.
inbox-problem-many = هذا كثير دفعة واحدة. الحد الأقصى لعدد الطلبات المحددة: { $number }.
inbox-problem-track-gone = لم تعد هذه المرحلة موجودة. اختر غيرها.
inbox-problem-action = اختر ما يُفعل بالطلبات المحددة.
inbox-problem-tags = أحد الطلبات المحددة بلغ الحد الأقصى لعدد الوسوم، وهو { $number }. لم يتغيّر شيء.
inbox-problem-merged = دُمج أحد الطلبات المحددة في طلب آخر في هذه الأثناء. لم يتغيّر شيء، والقائمة أدناه محدَّثة.
inbox-problem-has-merged = أحد الطلبات المحددة دُمجت فيه طلبات أخرى. احذفه من صفحته. لم يُحذف شيء.
field-tag = الوسم

# دمج الطلبات المحددة.
inbox-merge-title = دمج طلبات الميزات
inbox-merge-target = دمج الكل في
inbox-merge-target-hint = يحتفظ هذا الطلب بعنوانه ومكانه في خارطة الطريق، وتقود إليه الطلبات الأخرى.
inbox-merge-together = { $count ->
    [zero] ليس لها معًا أي صوت.
    [one] لها معًا صوت واحد.
    [two] لها معًا صوتان.
    [few] لها معًا { $number } أصوات.
    [many] لها معًا { $number } صوتًا.
   *[other] لها معًا { $number } صوت.
}
inbox-merge-twice = { $count ->
    [zero] لم يصوّت أحد لكليهما.
    [one] صوّت عميل واحد لكليهما ويُحسب مرة واحدة.
    [two] صوّت عميلان لكليهما ويُحسب كل منهما مرة واحدة.
    [few] صوّت { $number } عملاء لكليهما ويُحسب كل منهم مرة واحدة.
    [many] صوّت { $number } عميلًا لكليهما ويُحسب كل منهم مرة واحدة.
   *[other] صوّت { $number } عميل لكليهما ويُحسب كل منهم مرة واحدة.
}
inbox-merge-counts-once = يُحسب كل عميل مرة واحدة، وإن صوّت لعدة طلبات منها.
inbox-merge-effect = تظهر التعليقات والملاحظات الخاصة عند الطلب الباقي. يمكن إلغاء الدمج.
inbox-merge-private = تبقى كلمات الطلبات الخاصة مخفية عن العملاء. ولا يصير طلب عام جزءًا من طلب خاص.
inbox-merge-button = دمج
inbox-merge-few = حدّد في الوارد طلبين على الأقل لم يُدمجا بعد.
inbox-back = العودة إلى الوارد
inbox-delete-title = { $count ->
    [zero] حذف { $number } طلب ميزة؟
    [one] حذف طلب ميزة واحد؟
    [two] حذف طلبي ميزة؟
    [few] حذف { $number } طلبات ميزات؟
    [many] حذف { $number } طلب ميزة؟
   *[other] حذف { $number } طلب ميزة؟
}
inbox-delete-text = تُحذف مع أصواتها وتعليقاتها وملاحظاتها الخاصة. لا يمكن التراجع عن هذا.
inbox-delete-none = حدّد في الوارد طلبات لم تُدمج.
inbox-delete-button = حذف
inbox-problem-target = اختر الطلب الذي تُدمج فيه الطلبات الأخرى.
inbox-problem-target-gone = لم يعد هذا الطلب موجودًا. اختر غيره.
inbox-problem-already-merged = دُمج أحدها في طلب آخر في هذه الأثناء ولم يعد مدرجًا هنا. لم يتغيّر شيء.
inbox-problem-private-target = لا يصير طلب عام جزءًا من طلب خاص، فلن يراه من صوّتوا له. اختر طلبًا عامًا، أو اجعل هذا عامًا أولًا.
inbox-problem-not-mergeable = لا يمكن دمج هذه الطلبات: أحدها جزء من آخر، أو عددها كبير جدًا.

# ما ينتظر الموافقة، والقوائم الفارغة.
inbox-held-title = تعليقات تنتظر الموافقة
inbox-held-on = على
inbox-held-more = { $count ->
    [zero] لا تعليقات أخرى تنتظر.
    [one] ينتظر تعليق آخر، ويظهر بعد الفراغ من هذه.
    [two] ينتظر تعليقان آخران، ويظهران بعد الفراغ من هذه.
    [few] تنتظر { $number } تعليقات أخرى، وتظهر بعد الفراغ من هذه.
    [many] ينتظر { $number } تعليقًا آخر، وتظهر بعد الفراغ من هذه.
   *[other] ينتظر { $number } تعليق آخر، وتظهر بعد الفراغ من هذه.
}
inbox-empty-filter = لا يوجد في هذا العرض طلب يوافق عوامل التصفية هذه.
inbox-empty-all-title = الوارد فارغ
inbox-empty-all = كل الطلبات مدموجة في غيرها أو محذوفة.
inbox-empty-unanswered-title = أُجيب عن كل شيء
inbox-empty-unanswered = لا أحد ينتظر كلمة من الفريق.
inbox-empty-awaiting-title = لا شيء ينتظر الموافقة
inbox-empty-awaiting = تظهر هنا الأفكار والتعليقات التي على الفريق أن يوافق عليها أولًا.
inbox-empty-private-title = لا شيء خاص
inbox-empty-private = تظهر هنا الطلبات التي لا يراها إلا الفريق وأصحابها.
inbox-empty-merged-title = لا شيء مدموج
inbox-empty-merged = إذا كان لطلبين معنى واحد فادمجهما، فتُحسب أصواتهما معًا.
welcome-title = مرحبًا
welcome-lead = تقودك هذه الخطوات إلى بوابة يستخدمها عملاؤك.
welcome-progress = أُنجز { $done } من { $all }.
welcome-done = تم
welcome-mail = إرسال البريد
welcome-mail-text = يسجّل العملاء دخولهم بالبريد، وتصلهم به الردود والأخبار.
welcome-look = الاسم والشعار
welcome-look-text = حدّد الاسم والشعار والألوان ومن يمكنه رؤية البوابة.
welcome-lanes = المراحل والأعمدة
welcome-lanes-text = جهّز مراحل عملك والأعمدة التي يراها العملاء.
welcome-team = دعوة الفريق
welcome-team-text = أضف من يرد على العملاء أو يقرر ما يُبنى.
welcome-requests = أول طلبات الميزات
welcome-requests-text = دوّن ما طلبه العملاء في الرسائل والمكالمات.
welcome-share = مشاركة العنوان
welcome-share-text = شاهد ما يراه عملاؤك، وأرسل إليهم العنوان.

# اختصارات لوحة المفاتيح.
shortcuts-on = اختصارات لوحة المفاتيح: مفعّلة
shortcuts-off = اختصارات لوحة المفاتيح: متوقفة
shortcuts-list = قائمة المفاتيح
shortcut-next = الصف التالي
shortcut-previous = الصف السابق
shortcut-tick = تحديد الصف أو إلغاء تحديده
shortcut-change = إلى «تغيير المحدد»
shortcut-search = إلى البحث
shortcut-help = إظهار هذه القائمة أو إخفاؤها

# النظرة العامة.
overview-period = الفترة
overview-days = { $count ->
    [zero] لا أيام
    [one] يوم واحد
    [two] يومان
    [few] { $number } أيام
    [many] { $number } يومًا
   *[other] { $number } يوم
}
overview-year = سنة واحدة
overview-lead = لا يزيد عمر الأرقام على دقيقة. وتُقارن بالعدد نفسه من الأيام قبلها.
overview-sign-ins-used-up = طلب غرباء كثيرون تسجيل الدخول حتى إن بعضهم لم تصله رسالة. لم يتأثر الفريق ولا العملاء الذين سجّلوا الدخول من قبل. آخر مرة في
overview-requests = طلبات جديدة
overview-votes = الأصوات
overview-comments = تعليقات العملاء
overview-unanswered = بلا رد
overview-failed = رسائل أخفق إرسالها
overview-more = { $count ->
    [zero] كما كان من قبل
    [one] أكثر من قبل بواحد
    [two] أكثر من قبل باثنين
    [few] أكثر من قبل بـ { $number }
    [many] أكثر من قبل بـ { $number }
   *[other] أكثر من قبل بـ { $number }
}
overview-fewer = { $count ->
    [zero] كما كان من قبل
    [one] أقل من قبل بواحد
    [two] أقل من قبل باثنين
    [few] أقل من قبل بـ { $number }
    [many] أقل من قبل بـ { $number }
   *[other] أقل من قبل بـ { $number }
}
overview-same = كما كان من قبل
overview-oldest = أقدمها بتاريخ
overview-none-waiting = لا أحد ينتظر
overview-see-mail = اعرف السبب
overview-mail-fine = كل الرسائل أُرسلت أو في طريقها
overview-mail-written = تُكتب الرسائل في ملفات
overview-mail-admins = يمكن لأحد المشرفين معرفة السبب
overview-votes-by-week = الأصوات حسب الأسبوع
overview-requests-by-week = الطلبات الجديدة حسب الأسبوع
overview-chart = { $name }، عدد الأسابيع الأخيرة: { $weeks }. في الأسبوع من { $date }: { $first }، الحد الأعلى: { $max }، هذا الأسبوع حتى الآن: { $now }
overview-as-table = عرض كجدول
overview-week = الأسبوع
overview-week-of = من { $date }
overview-this-week = هذا الأسبوع حتى الآن
overview-tracks = أين الطلبات الآن
overview-tracks-caption = طلبات الميزات حسب المرحلة
overview-count = العدد
overview-share = النسبة
overview-percent = { $number } بالمئة
overview-most-voted = الأكثر أصواتًا بلا رد
overview-most-voted-none = أُجيب عن كل شيء.
overview-rising = الصاعدة في هذه الفترة
overview-rising-none = لم يصوّت أحد في هذه الفترة.
overview-new-votes = { $count ->
    [zero] لا أصوات جديدة
    [one] صوت جديد واحد
    [two] صوتان جديدان
    [few] { $number } أصوات جديدة
    [many] { $number } صوتًا جديدًا
   *[other] { $number } صوت جديد
}
overview-missed = عمليات بحث بلا نتائج
overview-missed-hint = ما بحث عنه العملاء ولم يجدوه. لا يُخزَّن من بحث.
overview-missed-none = كل بحث في هذه الفترة وجد شيئًا.
overview-times = { $count ->
    [zero] ولا مرة
    [one] مرة واحدة
    [two] مرتان
    [few] { $number } مرات
    [many] { $number } مرة
   *[other] { $number } مرة
}
done-posts-approved = { $count ->
    [zero] لم تُعتمد أي مشاركة.
    [one] اعتُمدت مشاركة واحدة.
    [two] اعتُمدت مشاركتان.
    [few] اعتُمدت { $number } مشاركات.
   *[other] اعتُمدت { $number } مشاركة.
}
done-posts-discarded = { $count ->
    [zero] لم تُحذف أي مشاركة.
    [one] حُذفت مشاركة واحدة.
    [two] حُذفت مشاركتان.
    [few] حُذفت { $number } مشاركات.
   *[other] حُذفت { $number } مشاركة.
}
inbox-discard-hint = تُحذف التعليقات المرفوضة وتبقى الأفكار المرفوضة خاصة.
inbox-problem-no-posts = لم يُحدَّد شيء. حدّد مشاركة واحدة على الأقل.
inbox-problem-many-posts = هذا كثير دفعة واحدة. الحد الأقصى لعدد المشاركات المحددة: { $number }.
inbox-open = مفتوح
inbox-replied = رد جديد
inbox-no-answer-needed = لا حاجة إلى رد
inbox-empty-open-title = لا شيء مفتوح
inbox-empty-open = ما تم أو رُفض تجده تحت «الكل».
inbox-empty-replied-title = لا ردود جديدة
inbox-empty-replied = لم يكتب أي عميل بعد الفريق.
team-no-answer-needed = لا حاجة إلى رد
team-history-no-answer-needed = لا حاجة إلى رد
done-no-answer-needed-here = لا حاجة إلى رد حتى يكتب عميل من جديد.
overview-replied-title = ردود جديدة
done-no-answer-needed = { $count ->
    [zero] لا طلبات تغيّرت.
    [one] طلب واحد لا يحتاج إلى رد حتى يكتب عميل من جديد.
    [two] طلبان لا يحتاجان إلى رد حتى يكتب عميل من جديد.
    [few] { $number } طلبات لا تحتاج إلى رد حتى يكتب عميل من جديد.
    [many] { $number } طلبًا لا يحتاج إلى رد حتى يكتب عميل من جديد.
   *[other] { $number } طلب لا يحتاج إلى رد حتى يكتب عميل من جديد.
}

inbox-own-views = طرق العرض المحفوظة
inbox-save-view = حفظ طريقة العرض هذه
inbox-remove-view = إزالة طريقة العرض { $name }
done-view-saved = حُفظت طريقة العرض. لا يراها سواك.
done-view-removed = أُزيلت طريقة العرض.
problem-view-name = لديك طريقة عرض بهذا الاسم. اختر اسمًا آخر أو أزل تلك أولًا.
problem-views = لديك 20 طريقة عرض. أزل واحدة قبل حفظ التالية.
