# إطار لوحة الإدارة وما تشترك فيه صفحاتها.
nav-admin = الإدارة
admin-inbox = الوارد
admin-overview = نظرة عامة
admin-changelogs = سجل التغييرات
admin-customers = العملاء
admin-tags = الوسوم
admin-tracks = المراحل
admin-members = الأعضاء
admin-api-keys = مفاتيح API
admin-webhooks = خطاطيف الويب
admin-link-sources = مصادر الروابط
admin-settings = الإعدادات
admin-mail = البريد
admin-exports = التصدير
admin-audit = سجل التدقيق
admin-inbox-waiting = { $count ->
    [zero] لا شيء ينتظر الفريق
    [one] واحد ينتظر الفريق
    [two] اثنان ينتظران الفريق
    [few] { $number } تنتظر الفريق
    [many] { $number } تنتظر الفريق
   *[other] { $number } تنتظر الفريق
}
admin-only-title = هذه الصفحة للمشرفين فقط
admin-only-text = أنت عضو في الفريق، وهذه الصفحة لمشرفيه. يمكن لأحد المشرفين تغيير دورك في صفحة الأعضاء.
admin-sign-in-again = ما تفعله هنا لا يمكن التراجع عنه، لذا سجّل الدخول مرة أخرى أولًا. مضت أكثر من ساعة على آخر تسجيل دخول لك.
admin-sign-in-again-link = تسجيل الدخول مرة أخرى
admin-save = حفظ
admin-cancel = إلغاء
problem-image = هذه ليست صورة تعرضها المتصفحات. اختر ملف PNG أو JPEG أو WebP أو GIF.
problem-image-large = هذه الصورة كبيرة جدًا. الحد الأقصى { $number } كيلوبايت.
