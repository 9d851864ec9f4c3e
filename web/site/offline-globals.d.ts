// Constants that the export puts before offline.js.

declare const VERSION: string;
declare const FILES: [path: string, type: string, digest: string][];
declare const TABLES: string[];
