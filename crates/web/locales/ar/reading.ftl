# القراءة: خارطة الطريق وطلبات الميزات وسجل التغييرات والخلاصات.

# خارطة الطريق.
roadmap-title = خارطة طريق { $name }
roadmap-lead = ما ندرسه، وما يأتي بعده، وما صار بين يديك. صوّت لما ينفعك، ونكتب إليك حين يتقدّم.
roadmap-empty = لا شيء هنا بعد، فالكلمة الأولى لك. ما الذي ينبغي أن يفعله { $name } ولا يفعله اليوم؟
roadmap-empty-lanes = لا شيء في خارطة الطريق بعد. اطّلع على ما طلبه الآخرون، وصوّت لما ينفعك.
lanes = المسارات
lane-empty = لا شيء هنا حاليًا.
show-all-in-lane = عرض الكل ({ $number })
requests-count = { $count ->
    [zero] لا طلبات
    [one] طلب واحد
    [two] طلبان
    [few] { $number } طلبات
    [many] { $number } طلبًا
   *[other] { $number } طلب
}
    .ideas = { $count ->
        [zero] لا أفكار
        [one] فكرة واحدة
        [two] فكرتان
        [few] { $number } أفكار
        [many] { $number } فكرة
       *[other] { $number } فكرة
    }
new-idea = أرسل فكرة
submit-first-idea = أرسل أول فكرة
see-changelog = اطّلع على الجديد

# الأصوات.
votes = { $count ->
    [zero] لا أصوات
    [one] صوت واحد
    [two] صوتان
    [few] { $number } أصوات
    [many] { $number } صوتًا
   *[other] { $number } صوت
}
vote = تصويت
voted = صوّتَّ
remove-vote = سحب الصوت
vote-for = تصويت لـ { $name }
remove-vote-for = سحب الصوت من { $name }

# القائمة.
requests-title = طلبات الميزات
    .ideas = الأفكار
requests-lead = اطّلع على ما طلبه غيرك، وصوّت لما تحتاج إليه أنت أيضًا.
requests-description = ما طلبه عملاء { $name }. ابحث أو صوّت أو أرسل فكرة من عندك.
search-label = ابحث في طلبات الميزات
    .ideas = ابحث في الأفكار
search-count = { $count ->
    [zero] ابحث في طلبات الميزات
    [one] ابحث في طلب واحد
    [two] ابحث في طلبين
    [few] ابحث في { $number } طلبات
    [many] ابحث في { $number } طلبًا
   *[other] ابحث في { $number } طلب
}
    .ideas = { $count ->
        [zero] ابحث في الأفكار
        [one] ابحث في فكرة واحدة
        [two] ابحث في فكرتين
        [few] ابحث في { $number } أفكار
        [many] ابحث في { $number } فكرة
       *[other] ابحث في { $number } فكرة
    }
search = بحث
sort-by = الترتيب حسب
sort-relevance = الأقرب إلى البحث
sort-trending = الرائج
sort-votes = الأكثر أصواتًا
sort-newest = الأحدث
sort-oldest = الأقدم
sort-updated = آخر تحديث
apply = تطبيق
filter = تصفية
lane-all = الكل
mine-voted = صوّتُّ لها
mine-written = أرسلتُها
remove-search = إزالة البحث
remove-tag = إزالة الوسم
results = { $count ->
    [zero] لا نتائج
    [one] نتيجة واحدة
    [two] نتيجتان
    [few] { $number } نتائج
    [many] { $number } نتيجة
   *[other] { $number } نتيجة
}
pages = الصفحات
page-previous = السابق
page-next = التالي
page-position = صفحة { $page } من { $total }
first-page = إلى الصفحة الأولى
show-all = عرض كل الطلبات
    .ideas = عرض كل الأفكار
empty-page-title = هذه الصفحة فارغة
empty-page-text = صارت القائمة أقصر.
empty-search-title = لا نتائج عن «{ $name }»
empty-search-text = جرّب كلمات أخرى، أو أخبرنا بما تريد، فقد تكون فكرة جديدة.
empty-voted-title = لم تصوّت بعد
empty-voted-text = ما تصوّت له يظهر هنا.
empty-written-title = لم ترسل فكرة بعد
empty-written-text = ما ترسله يظهر هنا.
empty-list-title = لا شيء هنا بعد
empty-list-text = الكلمة الأولى لك. ما الذي ينفعك؟
empty-filter-title = لا شيء مطابق
empty-filter-text = لا يوجد طلب يوافق عوامل التصفية هذه.
    .ideas = لا توجد فكرة توافق عوامل التصفية هذه.

# طلب ميزة.
all-requests = كل طلبات الميزات
    .ideas = كل الأفكار
badge-awaiting = بانتظار الموافقة
badge-private = خاص
awaiting-text = لا يراه إلا الفريق وصاحب الفكرة حتى يوافق عليه الفريق.
approve = موافقة
discard = حذف
customer = عميل
team = الفريق
vote-and-follow = التصويت والمتابعة
follow = متابعة
following = تتابعه
unfollow = إلغاء المتابعة
follow-hint = لتصلك رسالة حين يجيب الفريق أو تتغيّر الحالة.
following-hint = تصلك رسائل حول هذا الطلب.
tags = الوسوم
no-description = لا وصف.
team-answer = جواب الفريق
comments = التعليقات
comments-count = { $count ->
    [zero] لا تعليقات
    [one] تعليق واحد
    [two] تعليقان
    [few] { $number } تعليقات
    [many] { $number } تعليقًا
   *[other] { $number } تعليق
}
no-comments = لا تعليقات بعد.
earlier-comments = { $count ->
    [zero] لا تعليقات أقدم
    [one] عرض تعليق أقدم
    [two] عرض تعليقين أقدم
    [few] عرض { $number } تعليقات أقدم
    [many] عرض { $number } تعليقًا أقدم
   *[other] عرض { $number } تعليق أقدم
}
later-comments = عرض التعليقات الأحدث
edited = مُعدَّل
comment-from = على الطلب المدموج
    .ideas = على الفكرة المدموجة
comment-of = تعليق { $name } على «{ $title }»، { $date }
reply = ردّ
reply-to = على { $name }
reply-quote = كتب { $name }
answer-above = ↑ هذا هو الرد أعلاه.
write-comment = اكتب تعليقًا
your-comment = تعليقك
comment-hint = يمكنك استخدام Markdown للخط العريض والقوائم والروابط. يستطيع الجميع قراءته.
preview = معاينة
post-comment = نشر التعليق
similar-requests = طلبات مشابهة
    .ideas = أفكار مشابهة

# السجل.
history = السجل
history-moved = نُقل إلى «{ $name }»
history-off-the-roadmap = أُزيل من خارطة الطريق
history-merged = دُمج معه «{ $name }»
history-merged-another = دُمج معه طلب آخر
    .ideas = دُمجت معها فكرة أخرى
history-unmerged = أُلغي دمج سابق
history-edited = عُدِّل: { $name }
list-separator = {"، "}
history-submitted-by = أرسله { $name }
history-submitted = أُرسل

# سجل التغييرات.
changelog-title = سجل التغييرات
changelog-lead = الجديد في { $name }، والأحدث أولًا.
changelog-empty-title = لم يُنشر شيء بعد
changelog-empty-text = سيظهر الجديد هنا.
category-new = جديد
category-improved = تحسين
category-fixed = إصلاح
all-changelogs = كل التغييرات
more-changelogs = المزيد من الأخبار
newer = الأحدث
older = الأقدم
you-asked-for = هذا ما طلبتموه

# الخلاصات والصفحات المضمّنة.
feed-requests = طلبات جديدة
    .ideas = أفكار جديدة
feed-comments = التعليقات
feed-changelogs = خلاصة التغييرات
comment-by = تعليق من { $name }
open-portal = افتح البوابة
open-in-admin = افتح في لوحة الإدارة
status-not-reviewed = لم يُراجَع بعد
status-declined = مرفوض
since = منذ { $date }
asked-on = طُلب في { $date }
shipped-in = صدر في
