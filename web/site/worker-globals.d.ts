// Constants that the export puts before the worker.

declare const VERSION: string;
declare const FILES: [path: string, type: string, digest: string][];
declare const TABLES: string[];
declare function blake3(bytes: Uint8Array): string;
