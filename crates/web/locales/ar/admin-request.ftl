# صفحة الطلب وما يُفعل به.
done-unmerged = أصبح الطلب مستقلًا من جديد.
done-request-saved = تم حفظ الطلب.
done-request-created = تم إنشاء الطلب.
done-request-deleted = تم حذف الطلب.
done-answered = تم نشر تعليقك.
done-answered-mail = تم نشر تعليقك، وسيصل بريد إلى المصوّتين.
done-moved-mail = تم نقل الطلب، وسيصل بريد إلى المصوّتين عن الحالة الجديدة.
done-merged-mail = دُمج الطلب، وتصل رسالة إلى من صوّتوا له.
done-noted = تمت إضافة الملاحظة الخاصة.
done-note-deleted = تم حذف الملاحظة الخاصة.
done-link-added = تمت إضافة الرابط.
done-link-known = كان هذا الرابط موجودًا في الطلب.
done-link-removed = تمت إزالة الرابط.
done-vote-added = تمت إضافة الصوت.
done-vote-known = سبق أن صوّت هذا العميل، ويُحسب صوته مرة واحدة.
done-comment-saved = تم حفظ التعليق.
done-comment-deleted = تم حذف التعليق.

# أسماء الحقول.
field-note = ملاحظة خاصة
field-vote_note = ملاحظة على هذا الصوت
field-url = الرابط
field-track = المرحلة
field-tags = الوسوم

# صفحة الطلب.
team-number = رقم { $name }
team-see-on-portal = عرض في البوابة
team-edit = تعديل
team-merge = دمج
team-delete = حذف
team-change = تعديل
team-status = الحالة
team-voters-and-history = المصوّتون والسجل
team-details = التفاصيل
team-from = من
team-from-nobody = لم يُذكر أحد.
team-visible = الظهور
team-visible-public = في البوابة
team-visible-private = لا يراه إلا الفريق وصاحب الطلب.
team-visible-awaiting = بانتظار الموافقة. لا يراه إلا الفريق وصاحب الطلب.
team-visibility = الظهور
team-make-private = جعله خاصًا
team-make-public = جعله عامًا
team-decline = رفض
team-decline-hint = ما يُرفض يبقى خاصًا.
team-notes = الملاحظات الخاصة
team-notes-hint = لا يرى الملاحظات إلا الفريق.
team-no-notes = لا ملاحظات بعد.
team-notes-more = { $count ->
    [zero] لا ملاحظات أقدم.
    [one] ملاحظة أقدم واحدة لا تظهر هنا.
    [two] ملاحظتان أقدم لا تظهران هنا.
    [few] { $number } ملاحظات أقدم لا تظهر هنا.
    [many] { $number } ملاحظة أقدم لا تظهر هنا.
   *[other] { $number } ملاحظة أقدم لا تظهر هنا.
}
team-note-about = عن
team-note-of = ملاحظة { $name }
team-add-note = إضافة ملاحظة
team-delete-note = حذف الملاحظة
team-delete-note-ask = لا يمكن التراجع عن ذلك.
team-links = الروابط
team-links-hint = عنوان مهمة أو صفحة لما تبنونه لهذا الطلب. لا يرى الروابط إلا الفريق.
team-no-links = لا روابط بعد.
team-links-more = { $count ->
    [zero] لا روابط أخرى.
    [one] رابط آخر واحد لا يظهر هنا.
    [two] رابطان آخران لا يظهران هنا.
    [few] { $number } روابط أخرى لا تظهر هنا.
    [many] { $number } رابطًا آخر لا تظهر هنا.
   *[other] { $number } رابط آخر لا تظهر هنا.
}
team-link-open = مفتوح
team-link-closed = مغلق
team-add-link = إضافة رابط
team-remove-link = إزالة
team-remove-link-named = إزالة { $name }
team-comment-hint = عام، ويظهر أنه من الفريق. يمكنك استخدام Markdown للخط العريض والقوائم والروابط.
team-comment-hint-private = لا يراه إلا الفريق وصاحب الطلب ما دام الطلب خاصًا. يمكنك استخدام Markdown للخط العريض والقوائم والروابط.
team-mail-all = إرسال بريد إلى جميع المصوّتين
team-mail-status = إرسال بريد إلى المصوّتين عن الحالة الجديدة
team-people-get-mail = { $count ->
    [zero] لا يصل بريد إلى أحد
    [one] يصل بريد إلى شخص واحد
    [two] يصل بريد إلى شخصين
    [few] يصل بريد إلى { $number } أشخاص
    [many] يصل بريد إلى { $number } شخصًا
   *[other] يصل بريد إلى { $number } شخص
}
team-move = نقل
team-move-next = نقل ثم التالي
team-voters = المصوّتون
team-no-voters = لم يصوّت أحد بعد.
team-all-voters = { $count ->
    [zero] لا مصوّتين
    [one] المصوّت الواحد في قائمة
    [two] كلا المصوّتين
    [few] جميع المصوّتين، وعددهم { $number }
    [many] جميع المصوّتين، وعددهم { $number }
   *[other] جميع المصوّتين، وعددهم { $number }
}
team-csv = تنزيل CSV
team-vote-for-customer = التصويت نيابة عن عميل
team-vote-note-hint = اختياري. لا يراها إلا الفريق.
team-add-vote = إضافة صوت
record-vote = تسجيل صوت
record-vote-lead = لعميل سألك بالبريد أو في محادثة أو بالهاتف.
field-words = الكلمات
record-vote-words-hint = ما يطلبه العميل. نبحث عن طلبات تقول ذلك من قبل.
record-vote-find = بحث
record-vote-for = لأي طلب هذا الصوت؟
record-vote-none = لم نجد شيئًا مشابهًا.
record-vote-new = طلب ميزة جديد
record-vote-choose = اختر ما يُحسب له الصوت.
record-vote-gone = حُذف هذا الطلب في هذه الأثناء. اختر غيره.
record-vote-save = تسجيل الصوت
team-merged = طلبات مدموجة في هذا الطلب
team-unmerge = إلغاء الدمج
team-unmerge-named = إلغاء الدمج: { $name }
team-history-merged-into = دُمج في طلب آخر
team-history-unmerged-from = أُلغي دمجه في طلب آخر
team-by = بواسطة { $name }
team-actor-key = مفتاح API «{ $name }»
team-actor-customer = أحد العملاء
team-actor-operator = { $name }، بأمر
team-actor-service = الخدمة

# سبب الرفض.
team-problem-mail = { $count ->
    [zero] نفد بريد اليوم: لا رسائل في اليوم. اترك هذا المربع فارغًا، أو حاول غدًا.
    [one] نفد بريد اليوم: رسالة واحدة في اليوم. اترك هذا المربع فارغًا، أو حاول غدًا.
    [two] نفد بريد اليوم: رسالتان في اليوم. اترك هذا المربع فارغًا، أو حاول غدًا.
    [few] نفد بريد اليوم: { $number } رسائل في اليوم. اترك هذا المربع فارغًا، أو حاول غدًا.
    [many] نفد بريد اليوم: { $number } رسالة في اليوم. اترك هذا المربع فارغًا، أو حاول غدًا.
   *[other] نفد بريد اليوم: { $number } رسالة في اليوم. اترك هذا المربع فارغًا، أو حاول غدًا.
}
team-problem-storage = نفدت مساحة مساحة العمل هذه، لذلك لم يُحفظ شيء. احذف ما لم يعد لازمًا، أو اطلب المزيد من مشغّل الخدمة.
team-problem-track = لم تعد هذه المرحلة موجودة. يرجى اختيار مرحلة أخرى.
team-problem-tags = الحد الأقصى 20 وسمًا، لكل منها 50 حرفًا. يرجى حذف بعضها أو تقصيره.
team-problem-links = هناك 20 رابطًا بالفعل. أزل أحدها قبل إضافة رابط آخر.
problem-url = هذا ليس عنوان صفحة. يجب أن يكون على شكل https://example.com/7.
team-problem-has-merged = دُمجت طلبات أخرى في هذا الطلب. حدّد هذا المربع لحذفها أيضًا، أو ألغِ دمجها أولًا.
team-problem-merged = دُمج الطلب مع «{ $name }» بعد أن فتحت صفحته، فلم يتغير شيء. هذه صفحة الطلب الآخر.

# التعديل.
team-edit-title = تعديل: { $name }
team-markdown-hint = يمكنك استخدام Markdown للخط العريض والقوائم والروابط.
team-html-hint = في هذا النص تنسيق لا يوجد في Markdown، لذلك يظهر بصيغة HTML.
team-tags-hint = مفصولة بفواصل. الحد الأقصى 20.
team-changed-title = غيّر شخص آخر هذا الطلب أيضًا
team-changed-by = غيّره { $name } في { $date } ({ $zone })، بعد أن فتحت هذه الصفحة.
team-changed = تغيّر الطلب بعد أن فتحت هذه الصفحة.
team-changed-text = لم يُحفظ شيء ولم يضع شيء. تجد في الأسفل ما كتبته، وبجانبه المحفوظ الآن. إذا حفظت مرة أخرى فسيحل ما كتبته محله.
team-stored-now = المحفوظ الآن:
team-stored-empty = لا شيء

# الحذف.
team-delete-title = حذف «{ $name }»؟
team-delete-text = لا يمكن التراجع عن ذلك. يُحذف معه:
team-notes-count = { $count ->
    [zero] لا ملاحظات خاصة
    [one] ملاحظة خاصة واحدة
    [two] ملاحظتان خاصتان
    [few] { $number } ملاحظات خاصة
    [many] { $number } ملاحظة خاصة
   *[other] { $number } ملاحظة خاصة
}
team-links-count = { $count ->
    [zero] لا روابط
    [one] رابط واحد
    [two] رابطان
    [few] { $number } روابط
    [many] { $number } رابطًا
   *[other] { $number } رابط
}
team-merged-count = { $count ->
    [zero] لا طلبات مدموجة
    [one] طلب مدموج واحد
    [two] طلبان مدموجان
    [few] { $number } طلبات مدموجة
    [many] { $number } طلبًا مدموجًا
   *[other] { $number } طلب مدموج
}
team-delete-with-merged = { $count ->
    [zero] لا طلبات مدموجة
    [one] حذف الطلب المدموج أيضًا
    [two] حذف الطلبين المدموجين أيضًا
    [few] حذف { $number } طلبات مدموجة أيضًا
    [many] حذف { $number } طلبًا مدموجًا أيضًا
   *[other] حذف { $number } طلب مدموج أيضًا
}
team-delete-with-merged-hint = للإبقاء على أحدها ألغِ دمجه أولًا.
team-delete-button = حذف الطلب

# الدمج.
team-merge-title = دمج «{ $name }»
team-merge-lead = أي طلب يقول الشيء نفسه؟ يبقى ذلك الطلب وتنتقل إليه أصوات هذا الطلب وتعليقاته.
team-merge-suggested = طلبات مشابهة
team-merge-nothing = لا نتائج. جرّب كلمات أخرى، أو رقم الطلب.
team-merge-into = الدمج في
team-merge-into-named = الدمج في { $name }
team-neighbours = طلبات هذه القائمة
team-previous = السابق
team-next = التالي
team-merge-other = اختيار طلب آخر
team-merge-goes = هذا الطلب يُدمج
team-merge-stays = هذا الطلب يبقى
team-merge-what = ما الذي يحدث
team-merge-counted = معًا { $votes }: { $shared }
team-merge-shared = { $count ->
    [zero] لم يصوّت أحد لكليهما.
    [one] صوّت عميل واحد لكليهما ويُحسب مرة واحدة.
    [two] صوّت عميلان لكليهما ويُحسب كل منهما مرة واحدة.
    [few] صوّت { $number } عملاء لكليهما ويُحسب كل منهم مرة واحدة.
    [many] صوّت { $number } عميلًا لكليهما ويُحسب كل منهم مرة واحدة.
   *[other] صوّت { $number } عميل لكليهما ويُحسب كل منهم مرة واحدة.
}
team-merge-comments = تظهر التعليقات والوصف مع تعليقات الطلب الذي يبقى.
team-merge-notes = تظهر الملاحظات الخاصة والروابط هناك أيضًا. وتبقى وسوم الطلب الباقي ومرحلته.
team-merge-address = يقود العنوان القديم إلى الطلب الذي يبقى.
team-merge-hidden = الطلب خاص، لذلك يبقى نصه مخفيًا عن الجميع إلا الفريق. وتُحسب أصواته.
team-merge-undo = يمكنك التراجع عن ذلك في أي وقت. لا يضيع شيء.
team-merged-into = هذا الطلب مدموج في «{ $name }». يمكنك جعله مستقلًا من جديد، بأصواته وتعليقاته وملاحظاته وروابطه.
team-merge-tell = { $count ->
    [zero] إخبار المصوّتين
    [one] إخبار مصوّت واحد
    [two] إخبار مصوّتَين
    [few] إخبار { $number } مصوّتين
    [many] إخبار { $number } مصوّتًا
   *[other] إخبار { $number } مصوّت
}
team-merge-tell-hint = تقول رسالةٌ بمَ دُمج هذا الطلب. ولا تصل رسالة إلى من صوّتوا للطلب الباقي.
team-merge-itself = هذا هو الطلب نفسه، أو طلب مدموج فيه. يرجى اختيار طلب آخر.
team-merge-private = لا يمكن أن يصبح طلب عام جزءًا من طلب خاص، لأنه سيختفي من البوابة. اجعل الآخر عامًا أولًا، أو ادمج في الاتجاه المعاكس.
team-merge-many = دُمجت في ذلك الطلب طلبات كثيرة جدًا. يرجى اختيار طلب آخر.
team-merge-gone = لم يعد ذلك الطلب موجودًا. يرجى اختيار طلب آخر.
team-merge-elsewhere = دمج شخص آخر هذا الطلب في طلب آخر في هذه الأثناء. ألغِ دمجه أولًا.

# طلب جديد.
team-new-title = طلب جديد
team-new-customer = صاحب الطلب (اختياري)
team-new-customer-hint = يصبح العميل صاحب الطلب وأول المصوّتين. والعنوان غير المعروف يصبح عميلًا جديدًا.
team-new-create = إنشاء الطلب
team-new-look = البحث عن طلبات مشابهة
team-similar-none = لم نجد شيئًا مشابهًا.
team-similar-lead = إذا كان أحدها يقول الشيء نفسه فأضف الصوت أو الملاحظة هناك. تُفتح الروابط في علامة تبويب جديدة.

# المصوّتون.
team-voters-title = المصوّتون لـ «{ $name }»
team-company = الشركة
team-companies = { $count ->
    [one] من شركة واحدة
    [two] من شركتين
    [few] من { $number } شركات
    [many] من { $number } شركة
   *[other] من { $number } شركة
}
team-nameless-votes = { $count ->
    [one] وصوت واحد بلا اسم
    [two] وصوتان بلا اسم
    [few] و{ $number } أصوات بلا اسم
    [many] و{ $number } صوتًا بلا اسم
   *[other] و{ $number } صوت بلا اسم
}
team-only-nameless-votes = { $count ->
    [one] صوت واحد بلا اسم
    [two] صوتان بلا اسم
    [few] { $number } أصوات بلا اسم
    [many] { $number } صوتًا بلا اسم
   *[other] { $number } صوت بلا اسم
}
team-voted-on = تاريخ التصويت
team-csv-limit = في الملف أحدث 100,000 مصوّت.
team-csv-cut = { $count ->
    [zero] لم يُترك أحد.
    [one] تُرك مصوّت أقدم واحد.
    [two] تُرك مصوّتان أقدم.
    [few] تُرك { $number } مصوّتين أقدم.
    [many] تُرك { $number } مصوّتًا أقدم.
   *[other] تُرك { $number } مصوّت أقدم.
}

# تعليق.
team-comment-title = تعليق { $name }
team-comment-delete-title = حذف هذا التعليق؟
team-comment-delete-text = لا يمكن التراجع عن ذلك. والبريد عنه الذي لم يُرسل بعد لن يُرسل.
team-comment-delete = حذف التعليق
team-why = اذكر السبب
team-why-hint = اختياري. يظهر للجميع تعليقًا منك، ويصل مع خبر الحالة في رسالة واحدة.
