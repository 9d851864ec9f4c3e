// Makes the browser run the worker of this version, which keeps the files of the page.

const version = new URL(".", import.meta.url).pathname.split("/").at(-2);

navigator.serviceWorker?.register(new URL(`worker-${version}.js`, document.baseURI)).catch(() => {});
